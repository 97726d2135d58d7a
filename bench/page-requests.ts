// The requests of the serving benchmark: whole, ready to be written to a socket.
import type { Address, ChainId } from '../src/model.ts'
import { CursorSigner, firstPage } from '../src/query/cursor.ts'
import { openStore } from '../src/store/open.ts'
import { requestBytes } from './load.ts'
import type { FilledStore } from './serve-store.ts'

export const key = 'a-key-for-the-benchmark'

export function transfersRequest(contract: Address, query: string): Buffer {
  return requestBytes(`/api/v2/nft/${contract}/transfers?${query}`, { 'x-api-key': key })
}

/** Each call another page, so that nothing that keeps answers can help. */
export function distinctPages({ contracts, from, to }: FilledStore): () => Buffer {
  const blocks = Math.floor((to - from) / 2)
  let next = 0
  return () => {
    const index = next++
    // A prime step, so that neighbours in time are none in the store.
    const block = to - ((index * 7_919) % blocks)
    return transfersRequest(contracts[index % contracts.length]!, `to_block=${block}`)
  }
}

/**
 * Pages that a client reaches after thousands of others. Their cursors are signed here with the store's own secret,
 * because walking there takes longer than the measurement.
 */
export async function deepPages({ file, from, to, largest }: FilledStore): Promise<() => Buffer> {
  const store = await openStore(`file:${file}`, { role: 'reader' })
  const signer = new CursorSigner(store.secret)
  await store.close()
  return () => {
    // In the lower half, and not so low that the page would not be full.
    const depth = 0.5 + 0.4 * Math.random()
    const block = Math.floor(to - depth * (to - from))
    const cursor = signer.seal({
      ...firstPage,
      list: 'contract-transfers',
      chain: 1 as ChainId,
      subject: largest.slice(2),
      limit: 100,
      page: 1_000,
      after: { block, transactionIndex: 0, logIndex: 0, batchIndex: 0 },
    })
    return transfersRequest(largest, `cursor=${cursor}`)
  }
}
