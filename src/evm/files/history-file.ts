// A file of blocks, era1 or ere: what its index says it holds, and the records of each block by number. The index is
// believed and not the name; a record is believed once its hashes are checked, which is not done here.
import { E2File, type E2Record, type FileStamp, recordHeaderBytes, recordTypes, UnreadableFile } from './e2store.ts'
import { unframe } from './snappy.ts'

export const blocksPerEpoch = 8_192

export function isHistoryFile(name: string): boolean {
  return /\.(era1|ere|erae)$/.test(name)
}

/** Of one block. Each is RLP, but for the difficulty: 32 bytes, the lowest first. */
export type Component = 'header' | 'body' | 'receipts' | 'difficulty' | 'proof'

type Index = {
  /** Its record, and where that begins. */
  record: E2Record
  at: number
  from: number
  count: number
  /** How many offsets each block has; in era1 that of the header alone. */
  width: number
  /** Which of them, or which record behind the header, a component is. */
  slots: ReadonlyMap<Component, number>
}

export class HistoryFile {
  readonly path: string
  readonly size: number
  readonly format: 'era1' | 'ere'
  /** The first block. */
  readonly from: number
  readonly count: number
  readonly #file: E2File
  readonly #index: Index
  /** Where the records of the last block that was asked for begin. */
  #offsets: { place: number; of: Float64Array } | undefined

  /** Reads what the index says of all blocks; that of one is read when it is asked for. */
  constructor(path: string) {
    this.#file = new E2File(path)
    try {
      this.path = path
      this.size = this.#file.size
      const { format, index } = readIndex(this.#file)
      this.format = format
      this.#index = index
      this.from = index.from
      this.count = index.count
    } catch (error) {
      this.#file.close()
      throw error
    }
  }

  /** The last block. */
  get to(): number {
    return this.from + this.count - 1
  }

  has(component: Component): boolean {
    return this.#index.slots.has(component)
  }

  requireReceipts(): void {
    if (this.has('receipts')) return
    throw new UnreadableFile(
      'has no receipts: without them logs are neither known nor proven. Get a file that has them',
    )
  }

  /** Whether receipts are without their bloom. */
  get areReceiptsSlim(): boolean {
    return this.format === 'ere'
  }

  header(number: number): Buffer {
    return this.#unframed(number, 'header')
  }

  /** The transactions, uncles and withdrawals. */
  body(number: number): Buffer {
    return this.#unframed(number, 'body')
  }

  receipts(number: number): Buffer {
    return this.#unframed(number, 'receipts')
  }

  proof(number: number): Buffer {
    return this.#unframed(number, 'proof')
  }

  difficulty(number: number): Buffer {
    const bytes = this.#record(number, 'difficulty')
    if (bytes.length !== 32) throw new UnreadableFile(`has a total difficulty of ${bytes.length} bytes`)
    return Buffer.from(bytes)
  }

  /** The root that the file says its headers before the merge have. It proves nothing. */
  accumulator(): Buffer | undefined {
    const at = this.#index.at - recordHeaderBytes - accumulatorBytes
    if (at < recordHeaderBytes) return undefined
    const header = this.#file.bytesAt(at, recordHeaderBytes)
    const isOne = header.readUInt16LE(0) === recordTypes.accumulator && header.readUInt32LE(2) === accumulatorBytes
    return isOne ? this.#file.bytesAt(at + recordHeaderBytes, accumulatorBytes) : undefined
  }

  /** How many bytes of the file a block takes, about. */
  get bytesPerBlock(): number {
    return this.#index.at / this.count
  }

  stamp(): FileStamp {
    return this.#file.stamp()
  }

  close(): void {
    this.#file.close()
  }

  #unframed(number: number, component: Exclude<Component, 'difficulty'>): Buffer {
    return unframe(this.#record(number, component), unframedBytesMax[component])
  }

  /** What the next call overwrites. */
  #record(number: number, component: Component): Buffer {
    const { slots, from, at: end } = this.#index
    const slot = slots.get(component)
    if (slot === undefined) throw new UnreadableFile(`has no ${component} of its blocks`)
    const place = number - from
    if (this.#offsets?.place !== place) this.#offsets = { place, of: offsetsOf(this.#file, this.#index, place) }
    const offsets = this.#offsets.of
    if (this.format === 'ere') return this.#data(this.#file.recordOf(typesOfEre[component], offsets[slot]!), component)
    // The records of a block stand behind its header; unknown ones may stand among them.
    const type = typesOfEra1[component]
    let record = this.#file.recordOf(recordTypes.header, offsets[0]!)
    for (let passed = 0; record.type !== type; passed++) {
      if (passed > unknownRecordsMax) throw new UnreadableFile(`has more than ${unknownRecordsMax} records of a block`)
      const next = record.at + record.length
      record = this.#file.recordAt(next)
      if (next >= end || record.type === recordTypes.header) throw new UnreadableFile(`lacks the ${component}`)
    }
    return this.#data(record, component)
  }

  #data(record: E2Record, component: Component): Buffer {
    // Packed bytes are hardly more than those that are packed.
    if (record.length > 2 * unframedBytesMax[component])
      throw new UnreadableFile(`has a ${component} of ${record.length} bytes, more than history has`)
    return this.#file.dataOf(record)
  }
}

/**
 * What a record may hold: bounds on memory and time, far above what blocks have. Headers and proofs are read in the
 * thread that serves.
 */
const unframedBytesMax: Readonly<Record<Component, number>> = {
  ...{ header: 65_536, proof: 65_536, difficulty: 65_536 },
  ...{ body: 64 * 2 ** 20, receipts: 64 * 2 ** 20 },
}
/** Without a bound, the hole of a sparse file is read as empty records, one for every eight bytes. */
const unknownRecordsMax = 64

const typesOfEre: Readonly<Record<Component, number>> = {
  header: recordTypes.header,
  body: recordTypes.body,
  receipts: recordTypes.slimReceipts,
  difficulty: recordTypes.difficulty,
  proof: recordTypes.proof,
}
const typesOfEra1: Readonly<Record<Component, number>> = { ...typesOfEre, receipts: recordTypes.receipts }

function readIndex(file: E2File): { format: HistoryFile['format']; index: Index } {
  const isE2store = file.size >= recordHeaderBytes && isVersion(file.recordAt(0))
  if (!isE2store) throw new UnreadableFile('is not an e2store file: it does not begin with a version record')
  const count = file.size < 3 * numberBytes ? 0 : numberAt(file.bytesAt(file.size - numberBytes, numberBytes), 0)
  if (count >= 1 && count <= blocksPerEpoch) {
    const ofEra1 = indexRecord(file, recordTypes.blockIndex, (2 + count) * numberBytes)
    if (ofEra1 !== undefined) return { format: 'era1', index: era1Index(file, ofEra1, count) }
    const components = numberAt(file.bytesAt(file.size - 2 * numberBytes, numberBytes), 0)
    const ofEre =
      components >= 2 && components <= componentsMax
        ? indexRecord(file, recordTypes.dynamicBlockIndex, (3 + count * components) * numberBytes)
        : undefined
    if (ofEre !== undefined) return { format: 'ere', index: ereIndex(file, ofEre, count, components) }
  }
  throw new UnreadableFile('does not end with an index of blocks: it is cut, or a file of another kind')
}

const numberBytes = 8
const accumulatorBytes = 32
/** More than the format has today. */
const componentsMax = 16

function isVersion({ type, length }: E2Record): boolean {
  return type === recordTypes.version && length === 0
}

/** The record of this type and length that ends the file. */
function indexRecord(file: E2File, type: number, length: number): E2Record | undefined {
  const at = file.size - length - recordHeaderBytes
  if (at < recordHeaderBytes) return undefined
  try {
    const record = file.recordAt(at)
    return record.type === type && record.length === length ? record : undefined
  } catch (error) {
    if (error instanceof UnreadableFile) return undefined
    throw error
  }
}

function era1Index(file: E2File, record: E2Record, count: number): Index {
  const slots = new Map<Component, number>([...era1Components.entries()].map(([slot, name]) => [name, slot]))
  return { ...startOf(file, record), count, width: 1, slots }
}

const era1Components: readonly Component[] = ['header', 'body', 'receipts', 'difficulty']

/** The records of the first block tell what the slots of the index hold; unknown ones are left out. */
function ereIndex(file: E2File, record: E2Record, count: number, width: number): Index {
  const start = startOf(file, record)
  const first = offsetsOf(file, { ...start, width }, 0)
  const names = Object.keys(typesOfEre) as Component[]
  const slots = new Map<Component, number>()
  for (let slot = 0; slot < width; slot++) {
    const { type } = file.recordAt(first[slot]!)
    const name = names.find(each => typesOfEre[each] === type)
    if (name === undefined) continue
    if (slots.has(name)) throw new UnreadableFile(`has an index with two records of a block's ${name}`)
    slots.set(name, slot)
  }
  if (!slots.has('header') || !slots.has('body')) throw new UnreadableFile('has an index without headers or bodies')
  return { ...start, count, width, slots }
}

function startOf(file: E2File, record: E2Record): Pick<Index, 'record' | 'at' | 'from'> {
  return { record, at: record.at - recordHeaderBytes, from: numberAt(file.bytesAt(record.at, numberBytes), 0) }
}

/** Of one block. They are counted from the first byte of the index record. */
function offsetsOf(file: E2File, { record, at, width }: Pick<Index, 'record' | 'at' | 'width'>, place: number) {
  const bytes = file.bytesAt(record.at + (1 + place * width) * numberBytes, width * numberBytes)
  const offsets = new Float64Array(width)
  for (let slot = 0; slot < width; slot++) {
    const offset = at + Number(bytes.readBigInt64LE(slot * numberBytes))
    if (!(offset >= recordHeaderBytes && offset < at))
      throw new UnreadableFile('has an index that points outside of its records')
    offsets[slot] = offset
  }
  return offsets
}

function numberAt(bytes: Buffer, at: number): number {
  const number = Number(bytes.readBigUInt64LE(at))
  return Number.isSafeInteger(number) ? number : Number.MAX_SAFE_INTEGER
}
