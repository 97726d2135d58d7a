// How the labels of one address lie in memory, ready to be copied into an answer. It knows bytes alone.
//
//   20 bytes    address
//   for each label, the stronger first:
//    4 bytes    chain, 0 for every chain
//    4 bytes    checksum of the text, which is the same in every process
//    4 bytes    length of the text, times two; one more if another label follows
//    …          the text in JSON, with its quotes
import { crc32 } from 'node:zlib'
import type { ChainId } from '../model.ts'
import type { RankedLabel } from '../store/label-store.ts'

export const addressBytes = 20
/** Where the first label of a record begins. */
const labelsAt = addressBytes
const everyChain = 0
const checksumAt = 4
const lengthAt = 8
const textAt = 12
const wordBytes = 4

/** No label; those that there are have positions above. */
export const noLabel = 0

/** Labels of one address. */
export function packRecord(labels: readonly RankedLabel[]): Buffer {
  const texts = labels.map(({ label }) => JSON.stringify(label))
  const length = texts.reduce((sum, text) => sum + textAt + Buffer.byteLength(text), labelsAt)
  const record = Buffer.allocUnsafe(length)
  record.write(labels[0]!.address.slice(2), 'hex')
  let at = labelsAt
  for (const [index, text] of texts.entries())
    at = writeLabel(record, at, { chain: labels[index]!.chain, text, isFollowed: index < texts.length - 1 })
  return record
}

/** One label without an address, and a word behind it. */
export function packLabel(label: string): Buffer {
  const text = JSON.stringify(label)
  const bytes = Buffer.alloc(textAt + Buffer.byteLength(text) + wordBytes)
  writeLabel(bytes, 0, { chain: undefined, text, isFollowed: false })
  return bytes
}

function writeLabel(
  bytes: Buffer,
  at: number,
  { chain, text, isFollowed }: { chain: ChainId | undefined; text: string; isFollowed: boolean },
): number {
  const length = bytes.write(text, at + textAt)
  bytes.writeUInt32BE(chain ?? everyChain, at)
  bytes.writeUInt32BE(crc32(text), at + checksumAt)
  bytes.writeUInt32BE(length * 2 + (isFollowed ? 1 : 0), at + lengthAt)
  return at + textAt + length
}

export function recordLength(view: DataView, record: number): number {
  for (let label = record + labelsAt; ; label = labelAfter(view, label))
    if (!isFollowed(view, label)) return labelAfter(view, label) - record
}

/** Whether it is the record of the address at `at`. */
export function isOf(view: DataView, record: number, addresses: DataView, at: number): boolean {
  return (
    view.getInt32(record) === addresses.getInt32(at) &&
    view.getInt32(record + 4) === addresses.getInt32(at + 4) &&
    view.getInt32(record + 8) === addresses.getInt32(at + 8) &&
    view.getInt32(record + 12) === addresses.getInt32(at + 12) &&
    view.getInt32(record + 16) === addresses.getInt32(at + 16)
  )
}

/** Where in the record the label begins that is shown on the chain, or `noLabel`. */
export function winnerOn(chain: ChainId, view: DataView, record: number): number {
  for (let label = record + labelsAt; ; label = labelAfter(view, label)) {
    const of = view.getUint32(label)
    if (of === everyChain || of === chain) return label - record
    if (!isFollowed(view, label)) return noLabel
  }
}

export function labelChecksum(view: DataView, label: number): number {
  return view.getInt32(label + checksumAt)
}

export function labelTextAt(label: number): number {
  return label + textAt
}

export function labelLength(view: DataView, label: number): number {
  return view.getInt32(label + lengthAt) >> 1
}

function isFollowed(view: DataView, label: number): boolean {
  return (view.getInt32(label + lengthAt) & 1) === 1
}

function labelAfter(view: DataView, label: number): number {
  return label + textAt + labelLength(view, label)
}
