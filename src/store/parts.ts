// Everything that a store holds as plain rows, the same for every engine: for moving house and for comparing two stores. It is
// no way to answer requests: nothing here keeps counts, versions or revisions in order but the engines' own writing.
import { hash } from 'node:crypto'

/** Integers are numbers, unsigned 64-bit integers decimal text, flags 0 or 1. */
export type PartValue = number | string | Uint8Array | null
export type PartRow = readonly PartValue[]

/** The columns of each part. Parts are written in this order: numbers of chains and contracts stay what they were. */
export const partColumns = {
  secrets: ['name', 'value'],
  chains: ['ordinal', 'id', 'head_number', 'head_hash', 'head_timestamp', 'finalized'],
  contracts: ['id', 'chain', 'address'],
  blocks: ['chain', 'number', 'hash', 'timestamp'],
  hot_blocks: ['chain', 'number', 'hash', 'timestamp'],
  transfers: ['contract', 'block', 'tx', 'log', 'pos', 'payload'],
  hot_transfers: ['contract', 'block', 'tx', 'log', 'pos', 'payload'],
  activity: ['address', 'chain', 'first', 'last'],
  hot_activity: ['address', 'chain', 'block', 'first', 'last'],
  coverage: ['chain', 'scope', 'from_block', 'to_block', 'evidence'],
  watched_contracts: ['chain', 'contract', 'watched_from'],
  solana_accounts: ['network', 'owner', 'lamports', 'slot', 'chain_time', 'read_at_ms', 'reading_slot'],
  solana_holdings: ['network', 'account', 'owner', 'mint', 'amount', 'program', 'slot', 'write_version'],
  solana_closed: ['network', 'account', 'slot', 'write_version', 'closed_at_ms'],
  solana_mints: [
    ...['network', 'mint', 'account_slot', 'account_read_at_ms', 'program', 'decimals', 'supply', 'name', 'symbol'],
    ...['amount_rule', 'metadata_slot', 'metadata_read_at_ms', 'metadata_name', 'metadata_symbol', 'token_standard'],
  ],
  keys: [
    ...[
      'id',
      'name',
      'hash',
      'scopes',
      'created_at',
      'expires_at',
      'revoked_at',
      'rate_per_second',
      'quota_per_day',
      'index_per_day',
    ],
  ],
  key_uses: ['day', 'key_id', 'operation', 'count'],
  labels: ['address', 'chain', 'source', 'rank', 'label', 'updated_at'],
  contract_facts: ['chain', 'contract', 'name', 'symbol', 'possible_spam', 'reading', 'verdict'],
  contract_marks: ['chain', 'contract', 'source', 'rank', 'verified', 'spam', 'updated_at'],
  checkpoints: ['name', 'value'],
} as const satisfies Record<string, readonly string[]>

export type PartName = keyof typeof partColumns
export const partNames = Object.keys(partColumns) as PartName[]

/** Kept by the engines while transfers are written: compared, never copied. */
export type ReadableName = PartName | 'transfer_counts'

/** A page of a part, and where the next one begins; undefined behind the last. The cursor is the engine's own. */
export type PartPage = { rows: PartRow[]; next: string | undefined }

export interface StoreParts {
  readonly location: string
  readPart(part: ReadableName, cursor: string | undefined, limit: number): Promise<PartPage>
  /** Writes rows that are not there yet and, in the same transaction, the checkpoint of the copy. */
  writePart(part: PartName, rows: readonly PartRow[], checkpoint: string): Promise<void>
  /** How many rows the largest part has, for estimates. */
  transferRows(): Promise<number>
  copyCheckpoint(): Promise<string | undefined>
  /** Ends a copy: the checkpoint goes. */
  endCopy(): Promise<void>
  close(): Promise<void>
}

/** The name of the copy's checkpoint in the target, which is no part of what is copied. */
export const copyCheckpointName = 'store copy'

/** A count and a sum that do not depend on the order of rows. */
export class PartDigest {
  count = 0
  #sum = 0n

  add(row: PartRow): void {
    this.count += 1
    const pieces = row.map(value => {
      if (value === null) return Buffer.from('n;')
      if (typeof value === 'number') return Buffer.from(`i${value};`)
      const bytes = typeof value === 'string' ? Buffer.from(value) : value
      return Buffer.concat([Buffer.from(`${typeof value === 'string' ? 's' : 'b'}${bytes.length}:`), bytes])
    })
    this.#sum = BigInt.asUintN(128, this.#sum + digestOf(Buffer.concat(pieces)))
  }

  get checksum(): string {
    return this.#sum.toString(16).padStart(32, '0')
  }
}

function digestOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${hash('sha256', bytes, 'hex').slice(0, 32)}`)
}
