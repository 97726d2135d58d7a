// The parts of a store that tables and runs hold together, as records of their views. Pure.
import type { PartRow, PlaceRow, ReadableName } from '../../parts.ts'
import { activityView, refsOf } from '../../runs/activity-view.ts'
import { bucketOfKey, countKey, countOf, countValue, countView } from '../../runs/count-view.ts'
import { contractOfKey, positionOfKey, transferKey, transferView } from '../../runs/transfer-view.ts'
import type { View } from '../../runs/view.ts'
import { bytesOf } from '../arrays.ts'
import { batchIndexOf, boundOf, logIndexOf, transactionIndexOf } from '../place.ts'
import type { ColdPlace, ColdRecord } from './cold-pages.ts'
import { payloadAt } from './transfer-runs.ts'

type Layout = {
  view: View
  /** From the texts of a cursor, which are those of the table's key. */
  placeOf: (texts: readonly string[]) => ColdPlace
  keyOf: (record: ColdRecord) => readonly string[]
  recordOf: (row: PartRow) => ColdRecord
  /** Undefined for a record that says nothing. */
  rowOf: (record: ColdRecord) => [PartRow] | undefined
}

/** Records of the table have the bytes that runs have before the payload, and no block in them. */
const noBlock = Buffer.alloc(payloadAt)

const transfers: Layout = {
  view: transferView,
  placeOf: ([contract, block, place]) => {
    const packed = BigInt(place!)
    const [high, low] = [Number(packed >> 32n), Number(packed & 0xffffffffn)]
    const position = {
      ...{ block: Number(block), transactionIndex: transactionIndexOf(high) },
      ...{ logIndex: logIndexOf(high, low), batchIndex: batchIndexOf(low) },
    }
    return { key: transferKey(Number(contract), position), chain: 0 }
  },
  keyOf: ({ key }) => {
    const { block, place } = boundOf(positionOfKey(key))
    return [contractOfKey(key), block, place].map(String)
  },
  recordOf: row => {
    const [contract, block, transactionIndex, logIndex, batchIndex] = row as PlaceRow
    const key = transferKey(contract, { block, transactionIndex, logIndex, batchIndex })
    return { key, chain: 0, value: Buffer.concat([noBlock, row[5] as Uint8Array]) }
  },
  rowOf: ({ key, value }) => {
    const { block, transactionIndex, logIndex, batchIndex } = positionOfKey(key)
    return [[contractOfKey(key), block, transactionIndex, logIndex, batchIndex, value.subarray(payloadAt)]]
  },
}

const activity: Layout = {
  view: activityView,
  placeOf: ([address, chain]) => ({ key: bytesOf(address), chain: Number(chain) }),
  keyOf: ({ key, chain }) => [`\\x${Buffer.from(key).toString('hex')}`, String(chain)],
  recordOf: ([address, chain, first, last]) => ({
    key: address as Uint8Array,
    chain: chain as number,
    value: last === null ? (first as Uint8Array) : Buffer.concat([first as Uint8Array, last as Uint8Array]),
  }),
  rowOf: ({ key, chain, value }) => {
    const { first, last } = refsOf(value)
    return [[key, chain, first, last]]
  },
}

const counts: Layout = {
  view: countView,
  placeOf: ([contract, bucket]) => ({ key: countKey(Number(contract), Number(bucket)), chain: 0 }),
  keyOf: ({ key }) => [String(contractOfKey(key)), String(bucketOfKey(key))],
  recordOf: ([contract, bucket, count]) => ({
    key: countKey(contract as number, bucket as number),
    chain: 0,
    value: countValue(count as number),
  }),
  // The whole of a contract follows from the others.
  rowOf: ({ key, value }) =>
    bucketOfKey(key) < 0 || countOf(value) === 0 ? undefined : [[contractOfKey(key), bucketOfKey(key), countOf(value)]],
}

export const partsInRuns = { transfers, activity, transfer_counts: counts } as const

export type PartInRuns = keyof typeof partsInRuns

export function isInRuns(part: ReadableName): part is PartInRuns {
  return Object.hasOwn(partsInRuns, part)
}
