// Labels, marks and facts of addresses, contracts and tokens, joined, and replacing all that one source says.
import { bytesOfHex } from '../../hex.ts'
import { type Address, type ChainId, zeroAddress } from '../../model.ts'
import type {
  AnnotationStore,
  ContractFactsStore,
  Label,
  NamedContract,
  NameQuestion,
  NameStore,
  NamesFound,
  RankedLabel,
  SourceContent,
  TokenKey,
  TokenUriStore,
} from '../annotation-store.ts'
import { judgement, judgementValues, tokenIdBytes, tokenIdOf, verifiedNamesMax } from '../annotation-store.ts'
import { byteaArray, bytesOf, hexTextOf, int8Array, textOf } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'
import type { Ordinals } from './dictionary.ts'
import { forgetLabels, labelStore, putLabels } from './labels.ts'
import { forgetMarks, markStore, putMarks } from './marks.ts'
import type { StoreDatabase } from './store-database.ts'
import { putCheckpoint } from './work.ts'

export function annotationStore(store: StoreDatabase): AnnotationStore {
  return {
    ...labelStore(store),
    ...markStore(store),
    ...contractFactsStore(store),
    ...tokenUriStore(store),
    ...nameStore(store),
    replaceSource: async content => {
      const chains = [...content.labels, ...content.marks].flatMap(({ chain }) => chain ?? [])
      const ordinals = await store.dictionary.addOrdinals(chains)
      await store.writingLabels(async transaction => ({
        result: undefined,
        changed: await replaceSource(transaction, ordinals, content),
      }))
    },
  }
}

/** Returns the addresses whose labels may have changed. */
async function replaceSource(
  transaction: Transaction,
  ordinals: Ordinals,
  content: SourceContent,
): Promise<Pick<Label, 'address'>[]> {
  const { source, checkpoint } = content
  const forgotten = await forgetLabels(transaction, source)
  await forgetMarks(transaction, source)
  const labels = content.labels.map(label => ({ ...label, source }))
  await putLabels(transaction, ordinals, labels)
  const marks = content.marks.map(mark => ({ ...mark, source }))
  await putMarks(transaction, ordinals, marks)
  await putCheckpoint(transaction, checkpoint.name, checkpoint.value)
  return [...forgotten, ...labels]
}

const putFacts = `INSERT INTO contract_facts (chain, contract, name, symbol, possible_spam, reading, verdict, transfers)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (chain, contract) DO UPDATE SET name = excluded.name,
    symbol = excluded.symbol, possible_spam = excluded.possible_spam, reading = excluded.reading, verdict = excluded.verdict,
    transfers = excluded.transfers`
const findFacts =
  'SELECT name, symbol, possible_spam, reading, verdict FROM contract_facts WHERE chain = $1 AND contract = $2'
const rankedFacts = `SELECT contract, name, symbol, transfers FROM contract_facts
  WHERE chain = $1 AND (transfers, contract) < ($2, $3) ORDER BY transfers DESC, contract DESC LIMIT $4`
const verifiedNames = `SELECT name FROM contract_facts JOIN contract_marks USING (chain, contract) WHERE verified AND name IS NOT NULL
  UNION SELECT label FROM labels JOIN contract_marks AS marks ON marks.contract = labels.address
  WHERE verified AND labels.chain IN (0, marks.chain) LIMIT ${verifiedNamesMax}`

/** No contract has as many transfers. */
const beforeAll = { transfers: Number.MAX_SAFE_INTEGER, contract: zeroAddress }

function contractFactsStore(store: StoreDatabase): ContractFactsStore {
  const { database, dictionary } = store
  const bytes = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text))
  return {
    async putContractFacts(all) {
      const ordinals = await dictionary.addOrdinals(all.map(({ chain }) => chain))
      await store.writing(async transaction => {
        for (const facts of all) {
          const { name, symbol, possibleSpam } = facts
          const key = [ordinals.get(facts.chain) as number, bytesOfHex(facts.contract)]
          await transaction.run(putFacts, ...key, bytes(name), bytes(symbol), possibleSpam, ...judgementValues(facts))
        }
      })
    },
    contractFacts: (chain, contract) =>
      store.ofChain(chain, undefined, async ordinal => {
        const [row] = await database.read(findFacts, ordinal, bytesOfHex(contract))
        if (row === undefined) return undefined
        const [name, symbol, spam, reading, verdict] = row
        const named = { name: textOf(name), symbol: textOf(symbol) }
        return { chain, contract, ...named, possibleSpam: spam === 't', ...judgement(reading, verdict) }
      }),
    rankedContracts: (chain, after, limit) =>
      store.ofChain(chain, [], async ordinal => {
        const { transfers, contract } = after ?? beforeAll
        const rows = await database.read(rankedFacts, ordinal, transfers, bytesOfHex(contract), limit)
        return rows.map(([address, name, symbol, count]) => ({
          ...{ contract: hexTextOf<Address>(address), name: textOf(name), symbol: textOf(symbol) },
          transfers: Number(count),
        }))
      }),
    verifiedNames: async () => (await database.read(verifiedNames)).map(([name]) => textOf(name) as string),
  }
}

const findUris = `SELECT contract, token_id, uri, read_at FROM token_uris
  JOIN unnest($2::bytea[], $3::bytea[]) AS asked (contract, token_id) USING (contract, token_id) WHERE chain = $1`
const findWithUris = `SELECT contract FROM unnest($2::bytea[]) AS asked (contract)
  WHERE EXISTS (SELECT 1 FROM token_uris WHERE chain = $1 AND token_uris.contract = asked.contract)`
const putUris = `INSERT INTO token_uris (chain, contract, token_id, uri, read_at)
  SELECT $1, * FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::int8[])
  ON CONFLICT (chain, contract, token_id) DO UPDATE SET uri = excluded.uri, read_at = excluded.read_at`

function tokenUriStore(store: StoreDatabase): TokenUriStore {
  const keysOf = (tokens: readonly TokenKey[]) => [
    byteaArray(tokens.map(({ contract }) => bytesOfHex(contract))),
    byteaArray(tokens.map(({ tokenId }) => tokenIdBytes(tokenId))),
  ]
  return {
    tokenUris: (chain, tokens) =>
      store.ofChain(chain, [], async ordinal => {
        const rows = await store.database.read(findUris, ordinal, ...keysOf(tokens))
        return rows.map(([contract, tokenId, uri, readAt]) => ({
          ...{ contract: hexTextOf<Address>(contract), tokenId: tokenIdOf(bytesOf(tokenId)) },
          ...{ uri: textOf(uri), readAtMs: Number(readAt) },
        }))
      }),
    contractsWithUris: (chain, contracts) =>
      store.ofChain<ReadonlySet<Address>>(chain, new Set(), async ordinal => {
        const asked = byteaArray(contracts.map(contract => bytesOfHex(contract)))
        const rows = await store.database.read(findWithUris, ordinal, asked)
        return new Set(rows.map(([contract]) => hexTextOf<Address>(contract)))
      }),
    async putTokenUris(chain, uris) {
      // One statement cannot write a row twice, and rows in one order cannot wait for each other in two transactions.
      const byKey = new Map(uris.map(uri => [`${uri.contract} ${uri.tokenId}`, uri]))
      const sorted = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, uri]) => uri)
      await store.writingChain(chain, async (transaction, ordinal) => {
        await transaction.run(
          putUris,
          ordinal,
          ...keysOf(sorted),
          byteaArray(sorted.map(({ uri }) => (uri === undefined ? undefined : Buffer.from(uri)))),
          int8Array(sorted.map(({ readAtMs }) => readAtMs)),
        )
      })
    },
  }
}

// Contracts by name or symbol and addresses by label. Beginnings come from an index; texts within names are looked for
// only where there are few names.

function nameStore({ database }: StoreDatabase): NameStore {
  return {
    contractsNamed: question => findNamed(database, contractNames, question),
    labelsNamed: question => findNamed(database, labelTexts, question),
  }
}

type Named<Found> = {
  table: string
  /** Those that have an index. */
  columns: readonly string[]
  select: string
  foundOf: (row: Row) => Found
}

const chainOf = (id: unknown) => (id === null ? undefined : (Number(id) as ChainId))

const contractNames: Named<NamedContract> = {
  table: 'contract_facts',
  columns: ['name', 'symbol'],
  select: 'chains.id, contract, name, symbol',
  foundOf: ([chain, contract, name, symbol]) => ({
    ...{ chain: chainOf(chain)!, contract: hexTextOf<Address>(contract) },
    ...{ name: textOf(name), symbol: textOf(symbol) },
  }),
}

const labelTexts: Named<RankedLabel> = {
  table: 'labels',
  columns: ['label'],
  select: 'chains.id, address, label',
  foundOf: ([chain, address, label]) => ({
    ...{ chain: chainOf(chain), address: hexTextOf<Address>(address), label: textOf(label)! },
  }),
}

/** As the indexes of `migrations.ts` have it: the same text, or they are not used. */
const folded = (bytes: string) => `lower(encode(${bytes}, 'escape') COLLATE "C")`
const begin = (bytes: string) => `left(${folded(bytes)}, 64)`

async function findNamed<Found>(
  database: Database,
  { table, columns, select, foundOf }: Named<Found>,
  { text, limit, readMax }: NameQuestion,
): Promise<NamesFound<Found>> {
  const joined = (rows: string) => `SELECT ${select} FROM (${rows}) AS found LEFT JOIN chains ON ordinal = chain`
  const bytes = Buffer.from(text)
  // `encode` writes nothing above the tilde, which is below 127.
  const begins = columns.map(column => {
    const within = `${begin(column)} >= ${begin('$1::bytea')} AND ${begin(column)} < ${begin('$1::bytea')} || chr(127)`
    const rows = `SELECT * FROM ${table} WHERE ${within} ORDER BY ${begin(column)} LIMIT $2`
    return database.read(joined(rows), bytes, limit)
  })
  const counting = database.read(`SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT $1) AS counted`, readMax + 1)
  const [counted, ...beginning] = await Promise.all([counting, ...begins])
  const anywhere = Number(counted[0]![0]) <= readMax
  const has = columns.map(column => `position(${folded('$1::bytea')} in ${folded(column)}) > 0`).join(' OR ')
  const contained = anywhere
    ? await database.read(joined(`SELECT * FROM ${table} WHERE ${has} LIMIT $2`), bytes, limit)
    : []
  return { found: [...beginning.flat(), ...contained].map(foundOf), anywhere }
}
