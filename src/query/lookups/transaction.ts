// One transaction: as a node has it, and with the transfers that are stored of it. Rows are not kept by transaction, so
// without a node nothing is found. No HTTP.
import { AlmanacError } from '../../errors.ts'
import type { ChainId, Hash } from '../../model.ts'
import type { NodeTransaction } from '../../node-transaction.ts'
import type { ContractPlace } from '../../store/index-reader.ts'
import type { Store } from '../../store/store.ts'
import { answerRows } from '../answer-rows.ts'
import { type NodeAnswer, rowsOf } from '../explain.ts'
import type { PageLabels } from '../find-labels.ts'
import type { KnownLabels } from '../known-labels.ts'
import { type MixedRows, mixedRows, noRows } from '../mixed-rows.ts'
import type { FactsByContract, ShownContracts } from '../shown-contracts.ts'

/** Bounds of one answer. */
const emittersMax = 200
export const transfersMax = 500

export type TransactionAnswer = {
  node: NodeTransaction
  rows: MixedRows
  facts: FactsByContract
  labels: PageLabels | undefined
  /** Whether more transfers are stored than are shown. */
  more: boolean
}

type Parts = { store: Store; labels: KnownLabels; contracts: ShownContracts }
type TransactionQuestion = { chain: { id: ChainId; name: string }; hash: Hash }

export async function findTransaction(parts: Parts, { chain, hash }: TransactionQuestion, node: NodeAnswer) {
  if (node === 'not asked')
    throw new AlmanacError(
      'not_configured',
      `No process with a node of ${chain.name} runs, and transfers are not kept by transaction: one needs chains.${chain.name}.rpc`,
    )
  if (node === undefined) throw notInBlock(chain.name, hash)
  return await withTransfers(parts, { chain: chain.id, hash }, node)
}

async function withTransfers(
  { store, labels, contracts }: Parts,
  { chain, hash }: { chain: ChainId; hash: Hash },
  node: NodeTransaction,
): Promise<TransactionAnswer> {
  const places: ContractPlace[] = []
  for (const contract of node.emitters.slice(0, emittersMax)) {
    if (places.length > transfersMax) break
    const rows = await rowsOf(store, { chain, contract, block: node.block }, { transaction: hash, logIndex: undefined })
    places.push(...rows.map(row => ({ ...row, contract })))
  }
  places.sort((a, b) => a.logIndex - b.logIndex || a.batchIndex - b.batchIndex)
  const more = places.length > transfersMax || node.emitters.length > emittersMax
  if (places.length === 0) return { node, rows: noRows, facts: new Map(), labels: undefined, more }
  const page = await store.indexes.transfersAt(chain, places.slice(0, transfersMax))
  const [found, facts] = await Promise.all([labels.ofPage(chain, page), contracts.of(chain, page.contracts)])
  const rows = mixedRows(page, answerRows(page, { order: 'asc', limit: transfersMax, after: undefined }))
  return { node, rows, facts, labels: found, more }
}

export function notInBlock(chain: string, hash: string): AlmanacError {
  return new AlmanacError('not_found', `No node of ${chain} has this transaction in a block: ${hash}`)
}
