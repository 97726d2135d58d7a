// Writes changes as JSON: each is what happened and where, and the row as the list of its kind has it. No rules.
import { createHash } from 'node:crypto'
import type { ChainTable } from '../../../chains.ts'
import { hexOf } from '../../../hex.ts'
import { type Ledger, ledgerOf } from '../../../ledgers.ts'
import type { Hash, Position } from '../../../model.ts'
import type { ChangeRows } from '../../../query/changes/changes.ts'
import type { Dialect } from '../../params.ts'
import { asLines, writeMixedTransfers } from '../../transfer-json.ts'
import { transferRecords } from '../erc20/token-json.ts'

export const kindOf: Readonly<Record<Ledger, string>> = { nft: 'nft_transfer', erc20: 'erc20_transfer' }

/** In their order. */
export function changeTexts(changes: ChangeRows, dialect: Dialect, chains: ChainTable): string[] {
  const { ledger, state, rows, places } = changes
  const { chain, ledger: its } = ledgerOf(ledger)
  const facts = `"state":"${state}","kind":"${kindOf[its]}","chain":${JSON.stringify(chains.byId(chain)?.name ?? `${chain}`)}`
  const data = its === 'erc20' ? tokenTexts(changes, dialect) : nftTexts(changes, dialect)
  return places.map(({ row, position }, at) => {
    const hash = hexOf<Hash>(rows.stored.blockHashes.subarray(row * 32, row * 32 + 32))
    const id = idOf(chain, hash, position)
    return `{"id":"${id}",${facts},"block_number":${position.block},"block_hash":"${hash}","data":${data[at]}}`
  })
}

/** The same for whatever happens to a row: where it is. A row of another block is another one. */
function idOf(chain: number, hash: Hash, { transactionIndex, logIndex, batchIndex }: Position): string {
  const place = [chain, hash, transactionIndex, logIndex, batchIndex].join('/')
  return createHash('sha256').update(place).digest('hex').slice(0, 32)
}

function nftTexts({ rows, facts, labels }: ChangeRows, dialect: Dialect): string[] {
  const page = { rows, facts, labels, format: 'decimal', dialect, withNames: true, ...asLines } as const
  const { bytes, release } = writeMixedTransfers(page)
  const lines = bytes.toString().split('\n')
  release()
  return lines
}

function tokenTexts({ rows, places, facts, labels }: ChangeRows, dialect: Dialect): string[] {
  const shown = { rows, labels, dialect, tokenOf: (row: number) => rows.contracts[row]! }
  const stored = transferRecords({
    ...{ ...shown, factsOf: token => facts.get(token) },
    rows: { ...rows, length: rows.stored.length },
  })
  return places.map(({ row }) => JSON.stringify(stored[row]))
}
