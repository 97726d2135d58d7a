// A decoded range as columns of numbers and bytes, to cross to another thread: cloning an object per row would cost as
// much as decoding it. Pure; what comes out equals what went in.
import type { Address, TransferRow } from '../../model.ts'
import type { PackedActivity } from '../../store/packed-activity.ts'
import type { DecodedRange } from './chain-source.ts'

export type RangeColumns = {
  rest: Omit<DecodedRange, 'transfers' | 'activity'>
  contracts: Address[]
  /** Per transfer: contract, block, transaction index, log index, batch index, end of the payload. */
  places: Float64Array
  payloads: Uint8Array
  activity: PackedActivity
}

const perTransfer = 6

export function columnsOf(range: DecodedRange): RangeColumns {
  const { transfers, activity, ...rest } = range
  const contracts = new Map<Address, number>()
  const places = new Float64Array(perTransfer * transfers.length)
  let bytes = 0
  for (const { payload } of transfers) bytes += payload.length
  const payloads = new Uint8Array(bytes)
  let end = 0
  let at = 0
  for (const { contract, block, transactionIndex, logIndex, batchIndex, payload } of transfers) {
    payloads.set(payload, end)
    end += payload.length
    let number = contracts.get(contract)
    if (number === undefined) {
      number = contracts.size
      contracts.set(contract, number)
    }
    places[at++] = number
    places[at++] = block
    places[at++] = transactionIndex
    places[at++] = logIndex
    places[at++] = batchIndex
    places[at++] = end
  }
  return { rest, contracts: [...contracts.keys()], places, payloads, activity }
}

export function rangeOf({ rest, contracts, places, payloads, activity }: RangeColumns): DecodedRange {
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
  return { ...rest, transfers: rows, activity }
}
