// A decoded range as columns of numbers and bytes, in which it crosses to another thread: cloning an object for each row would
// cost as much as decoding it did. Pure; what comes out equals what went in.
import type { Address, Hash, TransactionRef, TransferRow } from '../../model.ts'
import type { DecodedRange } from './chain-source.ts'

/** The two lists that are long. */
export type RangeColumns = {
  rest: Omit<DecodedRange, 'transfers' | 'activity'>
  contracts: Address[]
  /** For each transfer: contract, block, transaction index, log index, batch index, end of the payload. */
  places: Float64Array
  payloads: Uint8Array
  /** The hashes of the transactions that activity speaks of. */
  hashes: Hash[]
  /** For each of those: block, transaction index, timestamp. */
  refs: Float64Array
  addresses: Address[]
  /** For each address: its first and its last of those. */
  spans: Uint32Array
}

const perTransfer = 6
const perRef = 3

export function columnsOf(range: DecodedRange): RangeColumns {
  const { transfers, activity, ...rest } = range
  return { rest, ...transferColumns(transfers), ...activityColumns(activity) }
}

/** What need not be copied on the way. */
export function buffersOf({ places, payloads, refs, spans }: RangeColumns): ArrayBuffer[] {
  return [places, payloads, refs, spans].map(({ buffer }) => buffer as ArrayBuffer)
}

export function rangeOf(columns: RangeColumns): DecodedRange {
  return { ...columns.rest, transfers: transfersOf(columns), activity: activityOf(columns) }
}

function transferColumns(
  transfers: DecodedRange['transfers'],
): Pick<RangeColumns, 'contracts' | 'places' | 'payloads'> {
  const numbers = new Numbers<Address>()
  const places = new Float64Array(perTransfer * transfers.length)
  let bytes = 0
  for (const { payload } of transfers) bytes += payload.length
  const payloads = new Uint8Array(bytes)
  let end = 0
  let at = 0
  for (const { contract, block, transactionIndex, logIndex, batchIndex, payload } of transfers) {
    payloads.set(payload, end)
    end += payload.length
    places[at++] = numbers.of(contract)
    places[at++] = block
    places[at++] = transactionIndex
    places[at++] = logIndex
    places[at++] = batchIndex
    places[at++] = end
  }
  return { contracts: numbers.items, places, payloads }
}

function transfersOf({ contracts, places, payloads }: RangeColumns): TransferRow[] {
  const rows = new Array<TransferRow>(places.length / perTransfer)
  let start = 0
  for (let row = 0, at = 0; row < rows.length; row++, at += perTransfer) {
    const end = places[at + 5]!
    rows[row] = {
      contract: contracts[places[at]!]!,
      block: places[at + 1]!,
      transactionIndex: places[at + 2]!,
      logIndex: places[at + 3]!,
      batchIndex: places[at + 4]!,
      payload: payloads.subarray(start, end),
    }
    start = end
  }
  return rows
}

/** Rows share their transactions, so each is sent once. */
function activityColumns(
  activity: DecodedRange['activity'],
): Pick<RangeColumns, 'hashes' | 'refs' | 'addresses' | 'spans'> {
  const numbers = new Numbers<TransactionRef>()
  const spans = new Uint32Array(2 * activity.length)
  const addresses = activity.map(({ address, first, last }, at) => {
    spans[2 * at] = numbers.of(first)
    spans[2 * at + 1] = numbers.of(last)
    return address
  })
  const refs = new Float64Array(perRef * numbers.items.length)
  const hashes = numbers.items.map(({ block, transactionIndex, hash, timestamp }, at) => {
    refs.set([block, transactionIndex, timestamp], perRef * at)
    return hash
  })
  return { hashes, refs, addresses, spans }
}

function activityOf({ hashes, refs, addresses, spans }: RangeColumns): DecodedRange['activity'] {
  const shared = hashes.map((hash, at): TransactionRef => {
    const [block, transactionIndex, timestamp] = refs.subarray(perRef * at, perRef * (at + 1))
    return { block: block!, transactionIndex: transactionIndex!, hash, timestamp: timestamp! }
  })
  return addresses.map((address, at) => ({
    address,
    first: shared[spans[2 * at]!]!,
    last: shared[spans[2 * at + 1]!]!,
  }))
}

/** Gives things their numbers in the order in which they come. */
class Numbers<Item> {
  readonly items: Item[] = []
  readonly #numbers = new Map<Item, number>()

  of(item: Item): number {
    const known = this.#numbers.get(item)
    if (known !== undefined) return known
    const number = this.items.push(item) - 1
    this.#numbers.set(item, number)
    return number
  }
}
