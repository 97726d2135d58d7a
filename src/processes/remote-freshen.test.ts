// Notes of asked contracts, where writing one takes long.
import { expect, test } from 'vitest'
import type { Address, ChainId } from '../model.ts'
import { askedNoter } from './remote-freshen.ts'

test('one note is written at a time, and one that was left out comes with the next request', async () => {
  const written: string[] = []
  let finish = () => {}
  const watchContract = (_chain: ChainId, contract: Address) => {
    written.push(contract)
    return new Promise<void>(resolve => {
      finish = resolve
    })
  }
  const note = askedNoter({ watchContract })
  const chain = 1 as ChainId
  note(chain, '0xa' as Address)
  note(chain, '0xb' as Address)
  expect(written).toEqual(['0xa'])
  finish()
  await new Promise(setImmediate)
  for (const contract of ['0xa', '0xb'] as Address[]) note(chain, contract)
  expect(written).toEqual(['0xa', '0xb'])
})
