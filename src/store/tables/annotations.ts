// Facts of contracts and of tokens, the search for names, and replacing all that one source says.
import { bytesOfHex, hexOf } from '../../hex.ts'
import { type Address, type ChainId, zeroAddress } from '../../model.ts'
import {
  type AnnotationChange,
  type AnnotationStore,
  type ContractFacts,
  type ContractFactsStore,
  type ContractReading,
  type NamedContract,
  type NameQuestion,
  type NameStore,
  type RankedLabel,
  type SpamVerdict,
  type TokenKey,
  type TokenUriStore,
  verifiedNamesMax,
} from '../annotation-store.ts'
import { putCheckpoint } from './checkpoints.ts'
import { chainsOf, forgetLabels, labelStore, ordinalsOf, putLabels, removeLabels, writeLabels } from './labels.ts'
import { forgetMarks, markStore, putMarks, removeMarks } from './marks.ts'
import {
  type Cell,
  lastOfEach,
  type Ordinals,
  over,
  type Row,
  replacing,
  row,
  rows,
  rowsOver,
  runOver,
  type Sql,
  type Tables,
  textOf,
} from './sql.ts'

export function annotationStore(tables: Tables): AnnotationStore {
  return {
    ...labelStore(tables),
    ...markStore(tables),
    ...contractFactsStore(tables),
    ...tokenUriStore(tables),
    ...nameStore(tables),
    annotate: change => annotate(tables, change),
  }
}

async function annotate(
  tables: Tables,
  { replaces, removedLabels = [], removedMarks = [], labels = [], marks = [], checkpoint }: AnnotationChange,
): Promise<number> {
  const known = await ordinalsOf(tables, chainsOf([...removedLabels, ...removedMarks]))
  let removed = 0
  await writeLabels(tables, chainsOf([...labels, ...marks]), function* (ordinals) {
    const forgotten = replaces === undefined ? [] : yield* forgetLabels(replaces)
    if (replaces !== undefined) yield* forgetMarks(replaces)
    const gone = removedLabels.length === 0 ? 0 : yield* removeLabels(known, removedLabels)
    removed = gone + (removedMarks.length === 0 ? 0 : yield* removeMarks(known, removedMarks))
    if (labels.length > 0) yield* putLabels(ordinals, labels)
    if (marks.length > 0) yield* putMarks(ordinals, marks)
    if (checkpoint !== undefined) yield* putCheckpoint(checkpoint.name, checkpoint.value)
    return [...forgotten, ...(gone > 0 ? removedLabels : []), ...labels]
  })
  return removed
}

// What contracts say of themselves and what the rules say of them.

const putFacts = over(
  `chain int4, contract bytea, name utf8, symbol utf8, possible_spam int4, reading text, verdict text, transfers int8`,
  `INSERT INTO contract_facts (chain, contract, name, symbol, possible_spam, reading, verdict, transfers)
   SELECT * FROM given WHERE true ON CONFLICT (chain, contract) DO UPDATE SET
     ${replacing('name', 'symbol', 'possible_spam', 'reading', 'verdict', 'transfers')}`,
)
const findFacts =
  'SELECT name, symbol, possible_spam, reading, verdict FROM contract_facts WHERE chain = $1 AND contract = $2'
const rankedFacts = `SELECT contract, name, symbol, transfers FROM contract_facts
  WHERE chain = $1 AND (transfers, contract) < ($2, $3) ORDER BY transfers DESC, contract DESC LIMIT $4`
// Marks come first in a join of SQLite's: there are few.
const verifiedNames = `SELECT name FROM contract_facts JOIN contract_marks USING (chain, contract)
  WHERE verified = 1 AND name IS NOT NULL
  UNION SELECT label FROM contract_marks AS marks CROSS JOIN labels
  WHERE verified = 1 AND labels.address = marks.contract AND labels.chain IN (0, marks.chain) LIMIT ${verifiedNamesMax}`

/** No contract has as many transfers. */
const beforeAll = { transfers: Number.MAX_SAFE_INTEGER, contract: zeroAddress }

function contractFactsStore(tables: Tables): ContractFactsStore {
  return {
    putContractFacts: async all => {
      const sorted = lastOfEach(all, ({ chain, contract }) => `${chain} ${contract}`)
      await tables.writing(
        ordinals =>
          runOver(
            putFacts,
            sorted.map(facts => factCells(facts, ordinals)),
          ),
        chainsOf(all),
      )
    },
    async contractFacts(chain, contract) {
      const ordinal = await tables.ordinalOf(chain)
      if (ordinal === undefined) return undefined
      const found = await tables.reading(() => row(findFacts, ordinal, bytesOfHex(contract)))
      return found && { chain, contract, ...factsOf(found) }
    },
    async rankedContracts(chain, after, limit) {
      const ordinal = await tables.ordinalOf(chain)
      if (ordinal === undefined) return []
      const { transfers, contract } = after ?? beforeAll
      type Found = [Uint8Array, Cell, Cell, number]
      const found = await tables.reading(() =>
        rows<Found>(rankedFacts, ordinal, transfers, bytesOfHex(contract), limit),
      )
      return found.map(([address, name, symbol, count]) => ({
        ...{ contract: hexOf<Address>(address), name: textOf(name), symbol: textOf(symbol), transfers: count },
      }))
    },
    verifiedNames: async () => (await tables.reading(() => rows<[Cell]>(verifiedNames))).map(([name]) => textOf(name)!),
  }
}

function factCells(facts: ContractFacts, ordinals: Ordinals): Cell[] {
  const { chain, contract, name = null, symbol = null, possibleSpam, reading, verdict } = facts
  const json = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value))
  return [
    ...[ordinals.get(chain)!, bytesOfHex(contract), name, symbol, Number(possibleSpam)],
    ...[json(reading), json(verdict), verdict?.transfers ?? 0],
  ]
}

function factsOf([name, symbol, spam, reading, verdict]: Row): Omit<ContractFacts, 'chain' | 'contract'> {
  return {
    ...{ name: textOf(name!), symbol: textOf(symbol!), possibleSpam: spam === 1 },
    ...(reading === null ? {} : { reading: JSON.parse(reading as string) as ContractReading }),
    ...(verdict === null ? {} : { verdict: JSON.parse(verdict as string) as SpamVerdict }),
  }
}

// What contracts say of tokens. Ids are stored as bytes without leading zeros.

const findUris = over(
  'contract bytea, token_id bytea',
  `SELECT contract, token_id, uri, read_at FROM given JOIN token_uris USING (contract, token_id) WHERE chain = $1`,
)
const findWithUris = over(
  'contract bytea',
  `SELECT contract FROM given
   WHERE EXISTS (SELECT 1 FROM token_uris WHERE chain = $1 AND token_uris.contract = given.contract)`,
)
const putUris = over(
  'contract bytea, token_id bytea, uri utf8, read_at int8',
  `INSERT INTO token_uris (chain, contract, token_id, uri, read_at)
   SELECT $1, contract, token_id, uri, read_at FROM given WHERE true
   ON CONFLICT (chain, contract, token_id) DO UPDATE SET ${replacing('uri', 'read_at')}`,
)

function tokenUriStore(tables: Tables): TokenUriStore {
  const keyCells = ({ contract, tokenId }: TokenKey): Cell[] => [bytesOfHex(contract), tokenIdBytes(tokenId)]
  return {
    async tokenUris(chain, tokens) {
      const ordinal = await tables.ordinalOf(chain)
      if (ordinal === undefined) return []
      type Found = [Uint8Array, Uint8Array, Cell, number]
      const found = await tables.reading(() => rowsOver<Found>(findUris, tokens.map(keyCells), ordinal))
      return found.map(([contract, tokenId, uri, readAtMs]) => ({
        ...{ contract: hexOf<Address>(contract), tokenId: BigInt(hexOf(tokenId)), uri: textOf(uri), readAtMs },
      }))
    },
    async contractsWithUris(chain, contracts) {
      const ordinal = await tables.ordinalOf(chain)
      if (ordinal === undefined) return new Set()
      const asked = contracts.map(contract => [bytesOfHex(contract)])
      const found = await tables.reading(() => rowsOver<[Uint8Array]>(findWithUris, asked, ordinal))
      return new Set(found.map(([contract]) => hexOf<Address>(contract)))
    },
    async putTokenUris(chain, uris) {
      const sorted = lastOfEach(uris, ({ contract, tokenId }) => `${contract} ${tokenId}`)
      const given = sorted.map(uri => [...keyCells(uri), uri.uri ?? null, uri.readAtMs])
      await tables.writing(ordinals => runOver(putUris, given, ordinals.get(chain)!), [chain])
    },
  }
}

function tokenIdBytes(tokenId: bigint): Buffer {
  const digits = tokenId.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

// Contracts by name or symbol and addresses by label. Beginnings come from an index; texts within names are looked for
// only where there are few names, because the thread or the server reads them all.

function nameStore(tables: Tables): NameStore {
  return {
    async named(question) {
      const [contracts, labels] = await Promise.all([
        tables.reading(() => findNamed(tables, contractNames, question)),
        tables.reading(() => findNamed(tables, labelTexts, question)),
      ])
      return { contracts: contracts.found, labels: labels.found, anywhere: contracts.anywhere && labels.anywhere }
    },
  }
}

type Named<Found> = {
  table: string
  key: string
  /** Those that have an index. */
  columns: readonly string[]
  foundOf: (row: Row) => Found
}

const contractNames: Named<NamedContract> = {
  table: 'contract_facts',
  key: 'contract',
  columns: ['name', 'symbol'],
  foundOf: ([chain, contract, name, symbol]) => ({
    ...{ chain: chain as ChainId, contract: hexOf<Address>(contract as Uint8Array) },
    ...{ name: textOf(name!), symbol: textOf(symbol!) },
  }),
}

const labelTexts: Named<RankedLabel> = {
  table: 'labels',
  key: 'address',
  columns: ['label'],
  foundOf: ([chain, address, label]) => ({
    ...{ chain: (chain ?? undefined) as ChainId | undefined, address: hexOf<Address>(address as Uint8Array) },
    label: textOf(label!)!,
  }),
}

function* findNamed<Found>(
  { names }: Tables,
  { table, key, columns, foundOf }: Named<Found>,
  { text, limit, readMax }: NameQuestion,
): Sql<{ found: Found[]; anywhere: boolean }> {
  const joined = (some: string): string =>
    `SELECT chains.id, ${key}, ${columns} FROM (${some}) AS found LEFT JOIN chains ON ordinal = chain`
  const found: Row[] = []
  for (const column of columns) {
    const begins = `SELECT * FROM ${table} WHERE ${names.begins(column)} ORDER BY ${names.order(column)} LIMIT $2`
    found.push(...(yield* rows(joined(begins), names.text(text), limit)))
  }
  const count = `SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT $1) AS counted`
  const anywhere = (yield* row<[number]>(count, readMax + 1))![0] <= readMax
  if (anywhere) {
    const some = `SELECT chain, ${key}, ${columns} FROM ${table} LIMIT $3`
    const has = `SELECT * FROM (${some}) AS read WHERE ${columns.map(names.has).join(' OR ')} LIMIT $2`
    found.push(...(yield* rows(joined(has), names.text(text), limit, readMax)))
  }
  return { found: found.map(foundOf), anywhere }
}
