// What a header is refused for before it is believed.
import { expect, test } from 'vitest'
import { SimChain } from '../../../test/sim/chain.ts'
import { headerText } from '../../../test/sim/json.ts'
import { builtInChains } from '../../chains.ts'
import type { Hash } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'
import { HeaderSource } from './chain-source.ts'

const { signal } = new AbortController()
const chain = new SimChain({ height: 8, hashes: 'real' })
const honest = JSON.parse(`${headerText(chain.block(5))}}`)
const other = JSON.parse(`${headerText(chain.block(4))}}`)
const asked = { number: 5, hash: honest.hash as Hash }

/** Of an endpoint that answers every block with this one: the reason against it, or the header. */
function sourceOf(header: object): HeaderSource {
  const rpc: Partial<RpcPort> = {
    endpoints: ['liar'],
    ask: async (calls, { objection }) => {
      const values = calls.map(() => header)
      const said = objection?.(values)
      if (said !== undefined) throw new Error(said)
      return { endpoint: 'liar', values, bytes: 0 }
    },
  }
  return new HeaderSource(builtInChains[0]!, rpc as RpcPort)
}

test('a header is believed as it was asked for and as it hashes', async () => {
  expect(await sourceOf(honest).headerOf(asked, signal)).toMatchObject(asked)
  await expect(sourceOf(other).headerOf(asked, signal)).rejects.toThrow(`block 4 ${other.hash} instead of block 5`)
  await expect(sourceOf(other).headerByNumber(5, signal)).rejects.toThrow('instead of block 5')
  const parent = { ...honest, parentHash: other.parentHash }
  await expect(sourceOf(parent).headerOf(asked, signal)).rejects.toThrow('whose header hashes to')
  await expect(sourceOf({ ...honest, timestamp: '0x6fffffff' }).head(signal)).rejects.toThrow('whose header hashes to')
})
