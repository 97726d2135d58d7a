// A decoded range as columns of numbers and bytes, in which it crosses to another thread: cloning an object for each row would
// cost as much as decoding it did. Pure; what comes out equals what went in.
import type { Address, TransferRow } from '../../model.ts'
import type { PackedActivity } from '../../store/packed-activity.ts'
import type { DecodedRange } from './chain-source.ts'

/** The two lists that are long. */
export type RangeColumns = {
  rest: Omit<DecodedRange, 'transfers' | 'activity'>
  contracts: Address[]
  /** For each transfer: contract, block, transaction index, log index, batch index, end of the payload. */
  places: Float64Array
  payloads: Uint8Array
  activity: PackedActivity
}

const perTransfer = 6

export function columnsOf(range: DecodedRange): RangeColumns {
  const { transfers, activity, ...rest } = range
  return { rest, ...transferColumns(transfers), activity }
}

/** What need not be copied on the way. */
export function buffersOf({ places, payloads, activity }: RangeColumns): ArrayBuffer[] {
  return [places, payloads, activity].map(({ buffer }) => buffer as ArrayBuffer)
}

export function rangeOf(columns: RangeColumns): DecodedRange {
  return { ...columns.rest, transfers: transfersOf(columns), activity: columns.activity }
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
