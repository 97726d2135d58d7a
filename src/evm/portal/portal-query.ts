// What is asked of a portal: the columns that the roots and the hash of a block are computed from. Datasets lack some
// of them, often only below some block; what an answer says of that is read here.
import type { Interval } from '../../model.ts'

type Table = 'block' | 'transaction' | 'log'

/** Without these nothing can be read. */
const required: Record<Table, readonly string[]> = {
  block: ['number', 'hash', 'parentHash', 'timestamp', 'transactionsRoot', 'receiptsRoot', 'logsBloom'],
  transaction: ['transactionIndex', 'hash', 'type', 'from', 'to', 'value', 'nonce', 'input', 'cumulativeGasUsed'],
  log: ['logIndex', 'transactionIndex', 'address', 'topics', 'data'],
}

/** Without these something cannot be proven. */
const proving: Record<Table, readonly string[]> = {
  block: [
    ...['stateRoot', 'sha3Uncles', 'extraData', 'miner', 'nonce', 'mixHash', 'gasLimit', 'gasUsed', 'difficulty'],
    ...['baseFeePerGas', 'withdrawalsRoot', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash'],
    ...['blockAccessListHash', 'slotNumber'],
  ],
  transaction: [
    ...['status', 'chainId', 'gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'v', 'r', 's', 'yParity'],
    ...['accessList', 'maxFeePerBlobGas', 'blobVersionedHashes', 'authorizationList'],
  ],
  // Where logs may belong to a transaction that is not listed.
  log: ['transactionHash'],
}

/** What portals have of headers. */
export const blockColumns: ReadonlySet<string> = new Set([...required.block, ...proving.block])

/** `header`: blocks without what they hold. */
export type PortalContent = 'whole' | 'header'

/** `table.column` */
export type PortalColumn = string

export function queryBody(
  { from, to }: Interval,
  { content, without }: { content: PortalContent; without: readonly PortalColumn[] },
): string {
  const fieldsOf = (table: Table): Record<string, true> => {
    const columns = [...required[table], ...proving[table]].filter(name => !without.includes(`${table}.${name}`))
    return Object.fromEntries(columns.map(name => [name, true]))
  }
  const block = fieldsOf('block')
  const items = {
    fields: { block, transaction: fieldsOf('transaction'), log: fieldsOf('log') },
    transactions: [{}],
    logs: [{}],
  }
  const asked = content === 'whole' ? items : { fields: { block } }
  return JSON.stringify({ type: 'evm', fromBlock: from, toBlock: to, includeAllBlocks: true, ...asked })
}

/** Why a portal did not take a query: the dataset begins later, or lacks a column; `other` is not understood. */
export type Refusal =
  | { is: 'start'; start: number }
  | { is: 'column'; column: PortalColumn; isRequired: boolean }
  | { is: 'other' }

/** Of an answer with the status 400, by what the portal and its workers say. */
export function refusalOf(text: string): Refusal {
  const start = /dataset starts (?:from|at) block (\d{1,15})/i.exec(text)
  if (start !== null) return { is: 'start', start: Number(start[1]) }
  const lacking = /column '([a-z0-9_]{1,60})' is not found in '([a-z]{1,20})'/i.exec(text)
  if (lacking !== null) return columnOf(lacking[1]!, lacking[2]!.replace(/s$/, ''))
  const unknown = /unknown field `(\w{1,60})`/.exec(text)
  return unknown === null ? { is: 'other' } : columnOf(unknown[1]!)
}

/** `name` as the portal's tables or its queries write it. Beside some columns there is another with their size. */
function columnOf(name: string, table?: string): Refusal {
  const plain = name.replace(/_size$/, '').replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  for (const each of ['block', 'transaction', 'log'] as const) {
    if (table !== undefined && table !== each) continue
    const isRequired = required[each].includes(plain)
    if (isRequired || proving[each].includes(plain)) return { is: 'column', column: `${each}.${plain}`, isRequired }
  }
  return { is: 'other' }
}
