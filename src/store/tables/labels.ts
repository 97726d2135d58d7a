// Labels of addresses, which one wins, and where they changed.
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import {
  type AnnotationFilter,
  annotationRanks,
  type Label,
  type LabelKey,
  type LabelStore,
  type RankedLabel,
} from '../annotation-store.ts'
import { type AddressRange, changesKept, changesSince, type LabelChanges, packRanges } from '../label-changes.ts'
import {
  type Cell,
  lastOfEach,
  type Ordinals,
  over,
  type Row,
  replacing,
  rows,
  rowsOver,
  run,
  runOver,
  type Sql,
  type Tables,
  textOf,
  written,
} from './sql.ts'

/** Labels of no chain. */
const everyChain = 0
/** No chain has it. */
const noOrdinal = -1

export function labelStore(tables: Tables): LabelStore {
  return {
    labelVersion: tables.labelCount.version,
    labelChanges: since => tables.reading(() => labelChanges(tables, since)),
    labelsWithin: (range, addressesMax) => tables.reading(() => labelsWithin(range, addressesMax)),
    async labelsOf(chain, addresses) {
      const ordinal = (await tables.ordinalOf(chain)) ?? everyChain
      return await tables.reading(() => labelsOf(ordinal, addresses))
    },
    async labelCandidates(chain, address) {
      const ordinal = (await tables.ordinalOf(chain)) ?? everyChain
      return (await tables.reading(() => rows(candidates, bytesOfHex(address), ordinal))).map(labelOf)
    },
    async labels(filter, after, limit) {
      const walked = await walkOf(
        tables,
        filter,
        'address, chain, source',
        after && {
          chain: after.chain,
          place: ordinal => [bytesOfHex(after.address), ordinal ?? everyChain, after.source],
        },
      )
      const find = `SELECT ${columns} ${walked.where} ORDER BY address, chain, source LIMIT $${walked.values.length + 1}`
      return (await tables.reading(() => rows(find, ...walked.values, limit))).map(labelOf)
    },
  }
}

export function chainsOf(keyed: readonly { chain: ChainId | undefined }[]): ChainId[] {
  return [...new Set(keyed.flatMap(({ chain }) => chain ?? []))]
}

/** Of those that have one. */
export async function ordinalsOf(tables: Tables, chains: readonly ChainId[]): Promise<Ordinals> {
  const known = new Map<ChainId, number>()
  for (const chain of chains) {
    const ordinal = await tables.ordinalOf(chain)
    if (ordinal !== undefined) known.set(chain, ordinal)
  }
  return known
}

/** One transaction that returns whose labels changed: this is counted and kept, so that readers read those again. */
export async function writeLabels(
  { writing, labelCount }: Tables,
  adding: readonly ChainId[],
  work: (ordinals: Ordinals) => Sql<readonly Pick<Label, 'address'>[]>,
): Promise<void> {
  const counted = await writing(function* (ordinals) {
    const changed = yield* work(ordinals)
    if (changed.length === 0) return undefined
    const [[count] = [0]] = yield* written<[number]>(labelCount.up)
    const ranges = packRanges(changed.map(({ address }) => address))
    yield* run('INSERT INTO label_changes (count, ranges) VALUES ($1, $2)', count, ranges)
    yield* run('DELETE FROM label_changes WHERE count <= $1', count - changesKept)
    return count
  }, adding)
  if (counted !== undefined) labelCount.committed(counted)
}

const put = over(
  'address bytea, chain int4, source text, rank int4, label utf8, updated_at int8',
  `INSERT INTO labels (address, chain, source, rank, label, updated_at) SELECT * FROM given WHERE true
   ON CONFLICT (address, chain, source) DO UPDATE SET ${replacing('rank', 'label', 'updated_at')}`,
)

function keyCells({ address, chain, source }: LabelKey, ordinals: Ordinals): Cell[] {
  return [bytesOfHex(address), chain === undefined ? everyChain : (ordinals.get(chain) ?? noOrdinal), source]
}

/** The last label of each address, chain and source wins. */
export function* putLabels(ordinals: Ordinals, labels: readonly Label[]): Sql<void> {
  const sorted = lastOfEach(labels, ({ address, chain, source }) => `${address} ${chain} ${source}`)
  yield* runOver(
    put,
    sorted.map(label => [
      ...keyCells(label, ordinals),
      ...[annotationRanks.indexOf(label.rank), label.label, label.updatedAt],
    ]),
  )
}

const remove = over(
  'address bytea, chain int4, source text',
  'DELETE FROM labels WHERE (address, chain, source) IN (SELECT address, chain, source FROM given)',
)

export function removeLabels(ordinals: Ordinals, labels: readonly LabelKey[]): Sql<number> {
  return runOver(
    remove,
    labels.map(label => keyCells(label, ordinals)),
  )
}

/** Returns the addresses that had a label. */
export function* forgetLabels(source: string): Sql<Pick<Label, 'address'>[]> {
  const forgotten = yield* written<[Uint8Array]>('DELETE FROM labels WHERE source = $1 RETURNING address', source)
  return forgotten.map(([address]) => ({ address: hexOf<Address>(address) }))
}

/** The better rank wins, then a label of the chain itself, then the newer one. */
const strongestFirst = 'rank, chain DESC, updated_at DESC, source'
// The plus keeps the chain out of the search: an address has a few adjacent rows, and SQLite takes 7 µs more to search
// each chain.
const winners = over(
  'address bytea',
  `SELECT address, label FROM labels WHERE address IN given AND +chain IN (0, $1) ORDER BY address, ${strongestFirst}`,
)

function* labelsOf(ordinal: number, addresses: readonly Address[]): Sql<Map<Address, string>> {
  const asked = [...new Set(addresses)].map(address => [bytesOfHex(address)])
  const found = new Map<Address, string>()
  for (const [bytes, label] of yield* rowsOver<[Uint8Array, Cell]>(winners, asked, ordinal)) {
    const address = hexOf<Address>(bytes)
    if (!found.has(address)) found.set(address, textOf(label)!)
  }
  return found
}

const columns = 'address, chains.id, source, rank, label, updated_at FROM labels LEFT JOIN chains ON ordinal = chain'
const candidates = `SELECT ${columns} WHERE address = $1 AND chain IN (0, $2) ORDER BY ${strongestFirst}`

function labelOf([address, chain, source, rank, label, updatedAt]: Row): Label {
  return {
    chain: (chain ?? undefined) as ChainId | undefined,
    address: hexOf<Address>(address as Uint8Array),
    label: textOf(label!)!,
    source: source as string,
    rank: annotationRanks[rank as number]!,
    updatedAt: updatedAt as number,
  }
}

/** What a walk over labels or marks begins after: its chain, and its place by the number of that. */
type After = { chain: ChainId | undefined; place: (ordinal: number | undefined) => Cell[] }

/** The rows that pass a filter, after one of them in the order of `key`. */
export async function walkOf(
  tables: Tables,
  { chain, source, rank }: AnnotationFilter,
  key: string,
  after: After | undefined,
): Promise<{ where: string; values: Cell[] }> {
  const values: Cell[] = []
  const conditions: string[] = []
  const add = (column: string, value: Cell): unknown => conditions.push(`${column} = $${values.push(value)}`)
  if (chain !== undefined) add('chain', (await tables.ordinalOf(chain)) ?? noOrdinal)
  if (source !== undefined) add('source', source)
  if (rank !== undefined) add('rank', annotationRanks.indexOf(rank))
  if (after !== undefined) {
    const place = after.place(await tables.ordinalOf(after.chain)).map(value => `$${values.push(value)}`)
    conditions.push(`(${key}) > (${place})`)
  }
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values }
}

function* labelChanges({ labelCount }: Tables, since: number | undefined): Sql<LabelChanges> {
  const find = `SELECT counted.count, ranges FROM (SELECT (${labelCount.read}) AS count) AS counted
    LEFT JOIN label_changes AS changes ON changes.count > $1 AND changes.count <= counted.count ORDER BY changes.count`
  const found = yield* rows<[number, Uint8Array | null]>(find, since ?? Number.MAX_SAFE_INTEGER)
  const kept = found.flatMap(([, ranges]) => ranges ?? [])
  return changesSince(since, found[0]![0], kept)
}

const within = `SELECT '0x' || lower(hex(address)), chains.id, label FROM labels LEFT JOIN chains ON ordinal = chain
  WHERE address >= $1 AND address <= coalesce((SELECT DISTINCT address FROM labels WHERE address >= $1 AND address <= $2
    ORDER BY address LIMIT 1 OFFSET $3), $2) ORDER BY address`

function* labelsWithin({ first, last }: AddressRange, addressesMax: number): Sql<RankedLabel[]> {
  const values = [bytesOfHex(first), bytesOfHex(last), addressesMax - 1]
  type Found = [Address, ChainId | null, Cell]
  // Most addresses have one label, and sorting takes almost as long as reading.
  const found = yield* rows<Found>(within, ...values)
  const isSorted = found.every(([address], index) => address !== found[index - 1]?.[0])
  const sorted = isSorted ? found : yield* rows<Found>(`${within}, ${strongestFirst}`, ...values)
  return sorted.map(([address, chain, label]) => ({ chain: chain ?? undefined, address, label: textOf(label)! }))
}
