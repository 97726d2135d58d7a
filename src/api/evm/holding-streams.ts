// Whole lists of who owns what as lines of their records. `holding-routes.ts` has the lists, `streams/` sends them.

import type { NftBatch } from '../../query/holdings/nft-batches.ts'
import type { AddressBatch, WholeList } from '../../query/holdings/streams/holding-streams.ts'
import type { ListStream, StreamBatch } from '../streams/list-stream.ts'
import { nftColumns } from './nft-json.ts'
import { type NftLinesOptions, writeAddressLines, writeNftLines } from './nft-lines.ts'

export async function nftStream(list: Promise<WholeList<NftBatch>>, options: NftLinesOptions): Promise<ListStream> {
  const lines = (batch: NftBatch) => ({ rows: batch.length, lines: writeNftLines(batch, options) })
  return streamOf(await list, nftColumns(options.shape), lines)
}

export async function addressStream(list: Promise<WholeList<AddressBatch>>): Promise<ListStream> {
  const lines = (batch: AddressBatch) => ({ rows: batch.numbers.length, lines: writeAddressLines(batch) })
  return streamOf(await list, ['walletAddresses'], lines)
}

function streamOf<Batch>(
  { batches, ...claim }: WholeList<Batch>,
  columns: readonly string[],
  lines: (batch: Batch) => StreamBatch,
): ListStream {
  const written = async function* () {
    for await (const batch of batches) yield lines(batch)
  }
  return { ...claim, columns, batches: written() }
}
