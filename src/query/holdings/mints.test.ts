// Where the life of a token begins, also where a range comes after it was said that its contract has none.
import { expect, test } from 'vitest'
import { blockOf, bob, chain, contract, rowOf, storeOf } from '../../../test/ten-final-blocks.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { Mints } from './mints.ts'

test('a range that comes later is looked at where it can be older', async () => {
  const store = storeOf([rowOf(5, { tokenId: 1n }), { ...rowOf(5, { tokenId: 2n }), logIndex: 9 }], 5)
  const mints = new Mints(store.reads().indexes)
  const blocks = async (...ids: bigint[]) => {
    const found = await mints.of(
      chain,
      ids.map(tokenId => ({ contract, tokenId })),
      9,
    )
    return found.map(mint => mint?.block)
  }
  expect(await blocks(1n)).toEqual([5])
  expect(await blocks(2n)).toEqual([5])
  expect(await blocks(3n)).toEqual([undefined])
  const range = rowOf(11, { tokenId: 1n, to: bob, idCount: 9 })
  const covered = { scope: contract, from: 11, evidence: 'bloom' } as const
  const hot = [{ ...blockOf(11), transfers: [range], activity: noActivity }]
  store.commitHot({ chain, ancestor: 10, blocks: hot, covered, head: blockOf(11) })
  expect(await blocks(3n, 1n)).toEqual([11, 5])
  const older = rowOf(1, { tokenId: 0n, to: bob, idCount: 3 })
  const history = [{ scope: contract, from: 0, to: 4, evidence: 'bloom' } as const]
  store.commitCold({ chain, covered: history, blocks: [blockOf(1)], transfers: [older], activity: noActivity })
  expect(await blocks(0n, 1n, 2n, 3n, 9n, 10n)).toEqual([1, 1, 1, 11, 11, undefined])
})
