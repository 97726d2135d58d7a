// What the answers on ERC-20 tokens have in common: their parameters, and how tokens, amounts and rows of transfers are
// written. No rules.
import type { ShownFacts } from '../../../annotate/shown-facts.ts'
import { exactAmount } from '../../../exact-amount.ts'
import { hexOf } from '../../../hex.ts'
import { type Address, zeroAddress } from '../../../model.ts'
import type { AnswerRows } from '../../../query/answer-rows.ts'
import type { PageLabels } from '../../../query/find-labels.ts'
import { layOut, newLayout } from '../../../store/transfer-payload.ts'
import { LentBytes, takeMemory } from '../../answer-memory.ts'
import { timestampMax } from '../../json-bytes.ts'
import { addressParameter, type Dialect } from '../../params.ts'

export const exampleToken = '0x514910771af9ca656af840dff83e8264ecf986ca'
export const tokenParameter = addressParameter('Address of the token.', exampleToken)

export function tokenFlags(facts: ShownFacts | undefined, dialect: Dialect) {
  const flag = (value = false) => (dialect === 'live' ? value : `${value}`)
  return { possible_spam: flag(facts?.possibleSpam), verified_contract: flag(facts?.verifiedCollection) }
}

/** In the main unit; null where that is not known. */
export function formatted(amount: bigint | undefined, decimals: number | undefined): string | null {
  return amount === undefined || decimals === undefined ? null : exactAmount(`${amount}`, decimals)
}

const percentDigits = 10n ** 12n

/** Of 100; null where there is no whole to be a part of. */
export function percentOf(part: bigint | undefined, whole: bigint | undefined): number | null {
  if (part === undefined || whole === undefined || whole === 0n) return null
  return Number((part * 100n * percentDigits) / whole) / Number(percentDigits)
}

export type TransferRows = {
  rows: AnswerRows
  labels: PageLabels | undefined
  /** Of each stored row. */
  tokenOf: (row: number) => Address
  factsOf: (token: Address) => ShownFacts | undefined
  dialect: Dialect
}

const layout = newLayout()

/** A row stands for one transfer: tokens have no ranges. */
export function transferRecords({ rows, labels, tokenOf, factsOf, dialect }: TransferRows): object[] {
  const { stored, length } = rows
  const { payloads, blockHashes } = stored
  const bytes = Buffer.from(payloads.buffer, payloads.byteOffset, payloads.byteLength)
  const hex = (from: number, to: number) => `0x${bytes.toString('hex', from, to)}`
  const records: object[] = []
  for (let row = 0, at = 0; row < length; row++, at = layout.end) {
    layOut(payloads, at, layout)
    const { hash, to, from, operator, amount, value } = layout
    const token = tokenOf(row)
    const facts = factsOf(token)
    const decimals = facts?.decimals
    records.push({
      ...{ token_name: facts?.name ?? null, token_symbol: facts?.symbol ?? null, token_logo: null },
      token_decimals: decimals === undefined ? null : `${decimals}`,
      ...{ transaction_hash: hex(hash, to), address: token },
      block_timestamp: timeText(stored.timestamps[row]!, dialect),
      block_number: `${stored.blocks[row]}`,
      block_hash: hexOf(blockHashes.subarray(row * 32, row * 32 + 32)),
      from_address: from === operator ? zeroAddress : hex(from, operator),
      from_address_label: labels?.textAt(row * 2) ?? null,
      ...{ from_address_entity: null, from_address_entity_logo: null },
      to_address: to === from ? zeroAddress : hex(to, from),
      to_address_label: labels?.textAt(row * 2 + 1) ?? null,
      ...{ to_address_entity: null, to_address_entity_logo: null },
      value: amount === value ? '1' : `${BigInt(hex(amount, value))}`,
      ...{ transaction_index: stored.transactionIndexes[row]!, log_index: stored.logIndexes[row]! },
      ...tokenFlags(facts, dialect),
    })
  }
  return records
}

/** The names of the fields of a row, in their order. */
export const transferColumns: readonly string[] = [
  ...['token_name', 'token_symbol', 'token_logo', 'token_decimals', 'transaction_hash', 'address', 'block_timestamp'],
  ...['block_number', 'block_hash', 'from_address', 'from_address_label', 'from_address_entity'],
  ...['from_address_entity_logo', 'to_address', 'to_address_label', 'to_address_entity', 'to_address_entity_logo'],
  ...['value', 'transaction_index', 'log_index', 'possible_spam', 'verified_contract'],
]

export function linesOfRecords(records: readonly object[]): LentBytes {
  const text = Buffer.from(records.map(record => `${JSON.stringify(record)}\n`).join(''))
  const memory = takeMemory(text.length)
  memory.bytes.set(text)
  return new LentBytes(memory, text.length)
}

function timeText(seconds: number, dialect: Dialect): string {
  const text = new Date(Math.min(seconds, timestampMax) * 1_000).toISOString()
  return dialect === 'live' ? text : text.slice(0, 19)
}
