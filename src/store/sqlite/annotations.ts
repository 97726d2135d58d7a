// Labels, marks and facts of addresses, contracts and tokens, joined, and replacing all that one source says.
import { bytesOfHex, hexOf } from '../../hex.ts'
import { type Address, type ChainId, zeroAddress } from '../../model.ts'
import type {
  AnnotationStore,
  ContractFactsStore,
  NamedContract,
  NameQuestion,
  NameStore,
  NamesFound,
  RankedLabel,
  SourceContent,
  TokenUriStore,
} from '../annotation-store.ts'
import { judgement, judgementValues, tokenIdBytes, verifiedNamesMax } from '../annotation-store.ts'
import type { Connection, Row } from './connection.ts'
import { forgetLabels, labelStore, noteLabels, putLabels } from './labels.ts'
import { forgetMarks, markStore, putMarks } from './marks.ts'
import type { StoreFile, WriteContext } from './store-file.ts'
import { putCheckpoint } from './work.ts'

export function annotationStore(file: StoreFile): AnnotationStore {
  return {
    ...labelStore(file),
    ...markStore(file),
    ...contractFactsStore(file),
    ...tokenUriStore(file),
    ...nameStore(file),
    replaceSource: content => file.writing(context => replaceSource(context, content)),
  }
}

function replaceSource({ connection, dictionary }: WriteContext, content: SourceContent): void {
  const { source, checkpoint } = content
  const forgotten = forgetLabels(connection, source)
  forgetMarks(connection, source)
  const labels = content.labels.map(label => ({ ...label, source }))
  putLabels(connection, dictionary, labels)
  noteLabels(connection, [...forgotten, ...labels])
  const marks = content.marks.map(mark => ({ ...mark, source }))
  putMarks(connection, dictionary, marks)
  putCheckpoint(connection, checkpoint.name, checkpoint.value)
}

const putFacts = `INSERT OR REPLACE INTO contract_facts (chain, contract, name, symbol, possible_spam, reading, verdict, transfers)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
const findFacts =
  'SELECT name, symbol, possible_spam, reading, verdict FROM contract_facts WHERE chain = ? AND contract = ?'
const rankedFacts = `SELECT contract, name, symbol, transfers FROM contract_facts
  WHERE chain = ? AND (transfers, contract) < (?, ?) ORDER BY transfers DESC, contract DESC LIMIT ?`
const verifiedNames = `SELECT name FROM contract_facts JOIN contract_marks USING (chain, contract) WHERE verified = 1 AND name IS NOT NULL
  UNION SELECT label FROM contract_marks AS marks CROSS JOIN labels ON labels.address = marks.contract
  WHERE verified = 1 AND labels.chain IN (0, marks.chain) LIMIT ${verifiedNamesMax}`

/** No contract has as many transfers. */
const beforeAll = { transfers: Number.MAX_SAFE_INTEGER, contract: zeroAddress }

function contractFactsStore(file: StoreFile): ContractFactsStore {
  return {
    putContractFacts: all =>
      file.writing(({ connection, dictionary }) => {
        for (const facts of all) {
          const key = [dictionary.addOrdinal(facts.chain), bytesOfHex(facts.contract)]
          const { name = null, symbol = null, possibleSpam } = facts
          connection.run(putFacts, ...key, name, symbol, Number(possibleSpam), ...judgementValues(facts))
        }
      }),
    contractFacts: async (chain, contract) =>
      file.ofChain(chain, undefined, (read, ordinal) => {
        type Found = [string | null, string | null, number, string | null, string | null]
        const row = read.get(findFacts, ordinal, bytesOfHex(contract)) as Found | undefined
        if (row === undefined) return undefined
        const [name, symbol, spam, reading, verdict] = row
        const named = { name: name ?? undefined, symbol: symbol ?? undefined }
        return { chain, contract, ...named, possibleSpam: spam === 1, ...judgement(reading, verdict) }
      }),
    rankedContracts: async (chain, after, limit) =>
      file.ofChain(chain, [], (read, ordinal) => {
        const { transfers, contract } = after ?? beforeAll
        return read.all(rankedFacts, ordinal, transfers, bytesOfHex(contract), limit).map(row => {
          const [address, name, symbol, count] = row as [Uint8Array, string | null, string | null, number]
          const named = { name: name ?? undefined, symbol: symbol ?? undefined }
          return { contract: hexOf<Address>(address), ...named, transfers: count }
        })
      }),
    verifiedNames: async () => file.reading(read => read.all(verifiedNames).map(([name]) => name as string)),
  }
}

const findUri = 'SELECT uri, read_at FROM token_uris WHERE chain = ? AND contract = ? AND token_id = ?'
const findAnyUri = 'SELECT 1 FROM token_uris WHERE chain = ? AND contract = ? LIMIT 1'
const putUri = 'INSERT OR REPLACE INTO token_uris (chain, contract, token_id, uri, read_at) VALUES (?, ?, ?, ?, ?)'

function tokenUriStore(file: StoreFile): TokenUriStore {
  return {
    tokenUris: async (chain, tokens) =>
      file.ofChain(chain, [], (read, ordinal) =>
        tokens.flatMap(({ contract, tokenId }) => {
          const row = read.get(findUri, ordinal, bytesOfHex(contract), tokenIdBytes(tokenId))
          if (row === undefined) return []
          const [uri, readAtMs] = row as [string | null, number]
          return [{ contract, tokenId, uri: uri ?? undefined, readAtMs }]
        }),
      ),
    contractsWithUris: async (chain, contracts) =>
      file.ofChain<ReadonlySet<Address>>(chain, new Set(), (read, ordinal) => {
        return new Set(contracts.filter(each => read.get(findAnyUri, ordinal, bytesOfHex(each)) !== undefined))
      }),
    putTokenUris: (chain, uris) =>
      file.writing(({ connection, dictionary }) => {
        const ordinal = dictionary.addOrdinal(chain)
        for (const { contract, tokenId, uri, readAtMs } of uris)
          connection.run(putUri, ordinal, bytesOfHex(contract), tokenIdBytes(tokenId), uri ?? null, readAtMs)
      }),
  }
}

// Contracts by name or symbol and addresses by label. Beginnings come from an index; texts within names are looked for
// only where there are few names, because the thread waits for the reading.

function nameStore(file: StoreFile): NameStore {
  return {
    contractsNamed: async question => file.reading(read => findNamed(read, contractNames, question)),
    labelsNamed: async question => file.reading(read => findNamed(read, labelTexts, question)),
  }
}

type Named<Found> = {
  table: string
  /** Those that have an index. */
  columns: readonly string[]
  select: string
  foundOf: (row: Row) => Found
}

const contractNames: Named<NamedContract> = {
  table: 'contract_facts',
  columns: ['name', 'symbol'],
  select: 'chains.id, contract, name, symbol',
  foundOf: ([chain, contract, name, symbol]) => ({
    ...{ chain: chain as ChainId, contract: hexOf<Address>(contract as Uint8Array) },
    ...{ name: (name ?? undefined) as string | undefined, symbol: (symbol ?? undefined) as string | undefined },
  }),
}

const labelTexts: Named<RankedLabel> = {
  table: 'labels',
  columns: ['label'],
  select: 'chains.id, address, label',
  foundOf: ([chain, address, label]) => ({
    ...{ chain: (chain ?? undefined) as ChainId | undefined, address: hexOf<Address>(address as Uint8Array) },
    label: label as string,
  }),
}

function findNamed<Found>(
  read: Connection,
  named: Named<Found>,
  { text, limit, readMax }: NameQuestion,
): NamesFound<Found> {
  const { table, columns, select, foundOf } = named
  const joined = (rows: string) => `SELECT ${select} FROM (${rows}) LEFT JOIN chains ON ordinal = chain`
  const begins = columns.flatMap(column => {
    const within = `${column} COLLATE NOCASE >= ?1 AND ${column} COLLATE NOCASE < ?1 || char(0x10ffff)`
    return read.all(
      joined(`SELECT * FROM ${table} WHERE ${within} ORDER BY ${column} COLLATE NOCASE LIMIT ?2`),
      text,
      limit,
    )
  })
  const some = `SELECT chain, ${table === 'labels' ? 'address' : 'contract'}, ${columns} FROM ${table} LIMIT ?1`
  const [count] = read.get(`SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT ?1)`, readMax + 1) as Row
  const anywhere = (count as number) <= readMax
  const has = columns.map(column => `instr(lower(${column}), lower(?2)) > 0`).join(' OR ')
  const contained = anywhere
    ? read.all(joined(`SELECT * FROM (${some}) WHERE ${has} LIMIT ?3`), readMax, text, limit)
    : []
  return { found: [...begins, ...contained].map(foundOf), anywhere }
}
