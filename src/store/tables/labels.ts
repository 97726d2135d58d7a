// Labels of addresses, which one wins, and where they changed; and marks: what the operator, imported lists and the
// built-in pack say of contracts.
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import {
  type AnnotationFilter,
  annotationRanks,
  type Label,
  type LabelStore,
  type Mark,
  type MarkKey,
  type MarkStore,
  type RankedLabel,
} from '../annotation-store.ts'
import type { Core } from '../core/core.ts'
import type { Dictionary } from '../core/dictionary.ts'
import {
  type Engine,
  insert,
  lastOfEach,
  plain,
  put,
  type Row,
  rows,
  run,
  textOf,
  type Value,
  type Work,
  written,
} from '../core/work.ts'
import { type AddressRange, changesKept, changesSince, type LabelChanges, packRanges } from '../label-changes.ts'

export function labelStore({ engine, dictionary }: Core): LabelStore {
  return {
    labelVersion: engine.labelCount.version,
    labelChanges: since => engine.read(() => labelChanges(engine, since)),
    labelsWithin: (range, addressesMax) => engine.read(() => labelsWithin(range, addressesMax)),
    labelsOf: (chain, addresses) => engine.read(() => labelsOf(dictionary, chain, addresses)),
    labelCandidates: (chain, address) =>
      engine.read(function* () {
        return (yield* rows(candidates, bytesOfHex(address), yield* ordinalOf(dictionary, chain))).map(labelOf)
      }),
    labels: (filter, after, limit) =>
      engine.read(function* () {
        const from = after && { ...after, of: after.address }
        return (yield* walk(dictionary, labelColumns, 'address, chain, source', filter, from, limit)).map(labelOf)
      }),
  }
}

export function markStore({ engine, dictionary }: Core): MarkStore {
  return {
    marks: (filter, after, limit) =>
      engine.read(function* () {
        const from = after && { ...after, of: after.contract }
        return (yield* walk(dictionary, markColumns, 'chain, contract, source', filter, from, limit)).map(markOf)
      }),
  }
}

/** Labels of no chain. */
const everyChain = 0
/** No chain has it. */
const noOrdinal = -1

function* ordinalOf(dictionary: Dictionary, chain: ChainId | undefined): Work<number> {
  return chain === undefined ? everyChain : ((yield* dictionary.ordinalOf(chain)) ?? noOrdinal)
}

/** The rows that pass a filter, after one of them in the order of the key. */
function* walk(
  dictionary: Dictionary,
  columns: string,
  key: string,
  { chain, source, rank }: AnnotationFilter,
  after: { of: Address; chain: ChainId | undefined; source: string } | undefined,
  limit: number,
): Work<Row[]> {
  const values: Value[] = []
  const bound = (value: Value): string => `$${values.push(value)}`
  const conditions: string[] = []
  if (chain !== undefined) conditions.push(`chain = ${bound(yield* ordinalOf(dictionary, chain))}`)
  if (source !== undefined) conditions.push(`source = ${bound(source)}`)
  if (rank !== undefined) conditions.push(`rank = ${bound(annotationRanks.indexOf(rank))}`)
  if (after !== undefined) {
    const known: Record<string, Value> = { chain: yield* ordinalOf(dictionary, after.chain), source: after.source }
    conditions.push(`(${key}) > (${key.split(', ').map(name => bound(known[name] ?? bytesOfHex(after.of)))})`)
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  return yield* rows(`SELECT ${columns} ${where} ORDER BY ${key} LIMIT ${bound(limit)}`, ...values)
}

/** What is written of labels or marks. */
type Keyed = { chain: ChainId | undefined; source: string } & ({ address: Address } | { contract: Address })

function* keyCells(dictionary: Dictionary, keyed: readonly Keyed[]): Work<Record<string, Value>[]> {
  const cells: Record<string, Value>[] = []
  for (const each of keyed) {
    const of = 'address' in each ? { address: bytesOfHex(each.address) } : { contract: bytesOfHex(each.contract) }
    cells.push({ ...of, chain: yield* ordinalOf(dictionary, each.chain), source: each.source })
  }
  return cells
}

/** Answers how many there were. */
export function* remove(
  dictionary: Dictionary,
  table: 'labels' | 'contract_marks',
  keyed: readonly Keyed[],
): Work<number> {
  if (keyed.length === 0) return 0
  const cells = yield* keyCells(dictionary, keyed)
  const from = `DELETE FROM ${table} WHERE (${Object.keys(cells[0]!)}) IN $1:rows(bytes, int, text)`
  return yield* run(from, cells.map(Object.values<Value>))
}

/** Everything that a source said. Answers the addresses that had a label. */
export function* forgetSource(source: string): Work<Pick<Label, 'address'>[]> {
  yield* run('DELETE FROM contract_marks WHERE source = $1', source)
  const forgotten = yield* written('DELETE FROM labels WHERE source = $1 RETURNING address', source)
  return forgotten.map(([address]) => ({ address: hexOf<Address>(address) }))
}

// Labels.

/** One transaction that returns whose labels changed: this is counted and kept, so that readers read those again. */
export async function writeLabels(engine: Engine, work: () => Work<readonly Pick<Label, 'address'>[]>): Promise<void> {
  const { labelCount } = engine
  const counted = await engine.write(function* () {
    const changed = yield* work()
    if (changed.length === 0) return undefined
    const [[count] = [0]] = yield* written(labelCount.up)
    yield* insert('label_changes', [{ count, ranges: packRanges(changed.map(({ address }) => address)) }])
    yield* run('DELETE FROM label_changes WHERE count <= $1', count - changesKept)
    return count
  }, plain)
  if (counted !== undefined) labelCount.committed(counted)
}

/** The last label of each address, chain and source wins. */
export function* putLabels(dictionary: Dictionary, labels: readonly Label[]): Work<void> {
  const sorted = lastOfEach(labels, ({ address, chain, source }) => `${address} ${chain} ${source}`)
  const keys = yield* keyCells(dictionary, sorted)
  yield* put(
    'labels',
    sorted.map(({ rank, label, updatedAt }, at) => {
      return { ...keys[at], rank: annotationRanks.indexOf(rank), label, updated_at: updatedAt }
    }),
  )
}

/** The better rank wins, then a label of the chain itself, then the newer one. */
const strongestFirst = 'rank, chain DESC, updated_at DESC, source'
// The plus keeps the chain out of the search: an address has a few adjacent rows, and SQLite takes 7 µs more to search
// each chain.
const winners = `SELECT address, label FROM labels WHERE address IN $1:blobs AND +chain IN (0, $2)
  ORDER BY address, ${strongestFirst}`

function* labelsOf(dictionary: Dictionary, chain: ChainId, addresses: readonly Address[]): Work<Map<Address, string>> {
  const found = new Map<Address, string>()
  if (addresses.length === 0) return found
  const asked = [...new Set(addresses)].map(bytesOfHex)
  for (const [bytes, label] of yield* rows(winners, asked, yield* ordinalOf(dictionary, chain))) {
    const address = hexOf<Address>(bytes)
    if (!found.has(address)) found.set(address, textOf(label)!)
  }
  return found
}

const labelColumns =
  'address, chains.id, source, rank, label, updated_at FROM labels LEFT JOIN chains ON ordinal = chain'
const candidates = `SELECT ${labelColumns} WHERE address = $1 AND chain IN (0, $2) ORDER BY ${strongestFirst}`

function labelOf([address, chain, source, rank, label, updatedAt]: Row): Label {
  return {
    ...{ chain: chain ?? undefined, address: hexOf<Address>(address), label: textOf(label)!, source },
    ...{ rank: annotationRanks[rank]!, updatedAt },
  }
}

function* labelChanges({ labelCount }: Engine, since: number | undefined): Work<LabelChanges> {
  const find = `SELECT counted.count, ranges FROM (SELECT (${labelCount.read}) AS count) AS counted
    LEFT JOIN label_changes AS changes ON changes.count > $1 AND changes.count <= counted.count ORDER BY changes.count`
  const found = yield* rows(find, since ?? Number.MAX_SAFE_INTEGER)
  const kept = found.flatMap(([, ranges]) => ranges ?? [])
  return changesSince(since, found[0]![0], kept)
}

const within = `SELECT '0x' || lower(hex(address)), chains.id, label FROM labels LEFT JOIN chains ON ordinal = chain
  WHERE address >= $1 AND address <= coalesce((SELECT DISTINCT address FROM labels WHERE address >= $1 AND address <= $2
    ORDER BY address LIMIT 1 OFFSET $3), $2) ORDER BY address`

function* labelsWithin({ first, last }: AddressRange, addressesMax: number): Work<RankedLabel[]> {
  const values = [bytesOfHex(first), bytesOfHex(last), addressesMax - 1]
  // Most addresses have one label, and sorting takes almost as long as reading.
  const found = yield* rows(within, ...values)
  const isSorted = found.every(([address], index) => address !== found[index - 1]?.[0])
  const sorted = isSorted ? found : yield* rows(`${within}, ${strongestFirst}`, ...values)
  return sorted.map(([address, chain, label]) => ({ chain: chain ?? undefined, address, label: textOf(label)! }))
}

// Marks.

const markColumns =
  'chains.id, contract, source, rank, verified, spam, updated_at FROM contract_marks JOIN chains ON ordinal = chain'

export function markOf([chain, contract, source, rank, verified, spam, updatedAt]: Row): Mark {
  const flag = (value: number | null) => (value === null ? undefined : value === 1)
  return {
    ...{ chain, contract: hexOf<Address>(contract), source, rank: annotationRanks[rank]!, updatedAt },
    ...{ verified: flag(verified), spam: flag(spam) },
  }
}

const keepFlags = Object.fromEntries(
  ['verified', 'spam'].map(flag => [flag, `coalesce(excluded.${flag}, contract_marks.${flag})`]),
)

/** Joins the marks of one contract by one source first. */
export function* putMarks(dictionary: Dictionary, marks: readonly Mark[]): Work<void> {
  const joined = new Map<string, Mark>()
  const keyOf = ({ chain, contract, source }: MarkKey): string => `${chain} ${contract} ${source}`
  for (const mark of marks) {
    const { verified, spam } = joined.get(keyOf(mark)) ?? {}
    joined.set(keyOf(mark), { ...mark, verified: mark.verified ?? verified, spam: mark.spam ?? spam })
  }
  const flag = (value: boolean | undefined) => (value === undefined ? null : Number(value))
  const sorted = lastOfEach([...joined.values()], keyOf)
  const keys = yield* keyCells(dictionary, sorted)
  yield* put(
    'contract_marks',
    sorted.map(({ rank, verified, spam, updatedAt }, at) => ({
      ...{ ...keys[at], rank: annotationRanks.indexOf(rank) },
      ...{ verified: flag(verified), spam: flag(spam), updated_at: updatedAt },
    })),
    { set: keepFlags },
  )
}
