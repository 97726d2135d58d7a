import { expect, test } from 'vitest'
import { alice, chain, contract, rowOf, storeOf } from '../../../../test/ten-final-blocks.ts'
import { nftStream } from '../../../api/evm/holding-streams.ts'
import { Holdings } from '../holdings.ts'
import type { StoredTokens } from '../nft-batches.ts'
import type { HoldingsOptions } from '../questions.ts'

test('what is made at once stays small where each token says as much as it may', async () => {
  const rows = Array.from({ length: 80 }, (_, at) => ({ ...rowOf(1, { tokenId: BigInt(at) }), logIndex: at }))
  const reads = storeOf(rows).reads()
  const long = 'x'.repeat(96 * 1_024)
  const tokens: StoredTokens = {
    withStored: async (_, contracts) => new Set(contracts),
    stored: async (_, asked) => asked.map(() => ({ tokenUri: long, metadata: long, syncedAtMs: 0 })),
  }
  const streams = new Holdings(reads).streams(tokens)
  const options: HoldingsOptions = { key: { id: 'a' } as never, freshen: undefined, freshenWaitMs: 0 }
  const shown = { dialect: 'live', format: 'decimal', normalizeMetadata: false } as const
  const question = { chain, contract, atBlock: undefined }
  const wallet = { chain, wallet: alice, atBlock: undefined, contracts: undefined, excludeSpam: false }
  for (const list of [
    await nftStream(streams.owners({ ...question, tokenId: undefined }, options), { ...shown, shape: 'owner' }),
    await nftStream(streams.contractNfts({ ...question, part: undefined }, options), { ...shown, shape: 'contract' }),
    await nftStream(streams.walletNfts(wallet, options), { ...shown, shape: 'wallet' }),
  ]) {
    let count = 0
    for await (const batch of list.batches) {
      count += batch.rows
      expect(batch.lines.bytes.length).toBeLessThan(8 * 2 ** 20)
      batch.lines.release()
    }
    expect(count).toBe(80)
  }
})
