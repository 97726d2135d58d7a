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
  type TokenUri,
  type TokenUriStore,
  verifiedNamesMax,
} from '../annotation-store.ts'
import type { Core } from '../core/core.ts'
import { lastOfEach, put, type Row, row, rows, textOf, type Work } from '../core/work.ts'
import { forgetSource, labelStore, markOf, markStore, putLabels, putMarks, remove, writeLabels } from './labels.ts'
import { putCheckpoint } from './leases.ts'

export function annotationStore(core: Core): AnnotationStore {
  return {
    ...labelStore(core),
    ...markStore(core),
    ...contractFactsStore(core),
    ...tokenUriStore(core),
    ...nameStore(core),
    annotate: change => annotate(core, change),
    annotationsOf: (chain, contract) =>
      core.ofChain(chain, { facts: undefined, marks: [] }, function* (ordinal) {
        const address = bytesOfHex(contract)
        const found = yield* rows(findOfContract, ordinal, address)
        const [first] = found as [Row]
        const hasFacts = first[2] !== null
        const marks = found.map(each => each.slice(5)).filter(([source]) => source !== null)
        return {
          facts: hasFacts ? { chain, contract, ...factsOf(first) } : undefined,
          marks: marks.map(mark => markOf([chain, address, ...mark])),
        }
      }),
  }
}

/** One row for each mark, or one without any. */
const findOfContract = `SELECT name, symbol, possible_spam, reading, verdict, source, rank, verified, spam, updated_at
  FROM (SELECT $1:int AS chain, $2:bytes AS contract) AS asked LEFT JOIN contract_facts USING (chain, contract)
  LEFT JOIN contract_marks USING (chain, contract) ORDER BY rank, updated_at DESC, source`

async function annotate(
  { engine, dictionary }: Core,
  { replaces, removedLabels = [], removedMarks = [], labels = [], marks = [], ...change }: AnnotationChange,
): Promise<number> {
  const { facts = [], tokenUris, checkpoint } = change
  const named = [...labels, ...marks, ...facts, ...(tokenUris === undefined ? [] : [tokenUris])]
  const chains = await dictionary.addOrdinals(named.flatMap(({ chain }) => chain ?? []))
  let removed = 0
  await writeLabels(engine, function* () {
    const forgotten = replaces === undefined ? [] : yield* forgetSource(replaces)
    const gone = yield* remove(dictionary, 'labels', removedLabels)
    removed = gone + (yield* remove(dictionary, 'contract_marks', removedMarks))
    if (labels.length > 0) yield* putLabels(dictionary, labels)
    if (marks.length > 0) yield* putMarks(dictionary, marks)
    yield* putFacts(chains, facts)
    if (tokenUris !== undefined) yield* putTokenUris(chains.get(tokenUris.chain)!, tokenUris.uris)
    if (checkpoint !== undefined) yield* putCheckpoint(checkpoint.name, checkpoint.value)
    return [...forgotten, ...(gone > 0 ? removedLabels : []), ...labels]
  })
  return removed
}

// What contracts say of themselves and what the rules say of them.

const rankedFacts = `SELECT contract, name, symbol, transfers FROM contract_facts
  WHERE chain = $1 AND (transfers, contract) < ($2, $3) ORDER BY transfers DESC, contract DESC LIMIT $4`
// Of a chain there may be millions, of one symbol some thousands.
const rankedWithSymbol = `WITH named AS MATERIALIZED (
    SELECT chain, contract, name, symbol, transfers FROM contract_facts WHERE IS_NAMED(symbol, $5:utf8)
  ) SELECT contract, name, symbol, transfers FROM named
  WHERE chain = $1 AND (transfers, contract) < ($2, $3) ORDER BY transfers DESC, contract DESC LIMIT $4`
// Marks come first in a join of SQLite's: there are few.
const verifiedNames = `SELECT name FROM contract_facts JOIN contract_marks USING (chain, contract)
  WHERE verified = 1 AND name IS NOT NULL
  UNION SELECT label FROM contract_marks AS marks CROSS JOIN labels
  WHERE verified = 1 AND labels.address = marks.contract AND labels.chain IN (0, marks.chain) LIMIT ${verifiedNamesMax}`

/** No contract has as many transfers. */
const beforeAll = { transfers: Number.MAX_SAFE_INTEGER, contract: zeroAddress }

function putFacts(chains: ReadonlyMap<ChainId, number>, all: readonly ContractFacts[]): Work<void> {
  const sorted = lastOfEach(all, ({ chain, contract }) => `${chain} ${contract}`)
  const json = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value))
  const cells = sorted.map(({ chain, contract, name, symbol, possibleSpam, reading, verdict }) => ({
    ...{ chain: chains.get(chain), contract: bytesOfHex(contract), name, symbol },
    ...{ possible_spam: Number(possibleSpam), reading: json(reading), verdict: json(verdict) },
    transfers: verdict?.transfers ?? 0,
  }))
  return put('contract_facts', cells)
}

function contractFactsStore(core: Core): ContractFactsStore {
  return {
    rankedContracts: (chain, after = beforeAll, limit, symbol) =>
      core.ofChain(chain, [], function* (ordinal) {
        const place = [ordinal, after.transfers, bytesOfHex(after.contract), limit]
        const found = yield* symbol === undefined
          ? rows(rankedFacts, ...place)
          : rows(rankedWithSymbol, ...place, symbol)
        return found.map(([address, name, symbol, transfers]) => ({
          ...{ contract: hexOf<Address>(address), name: textOf(name), symbol: textOf(symbol), transfers },
        }))
      }),
    verifiedNames: async () => (await core.engine.read(() => rows(verifiedNames))).map(([name]) => textOf(name)!),
  }
}

function factsOf([name, symbol, spam, reading, verdict]: Row): Omit<ContractFacts, 'chain' | 'contract'> {
  return {
    ...{ name: textOf(name), symbol: textOf(symbol), possibleSpam: spam === 1 },
    ...(reading === null ? {} : { reading: JSON.parse(reading) as ContractReading }),
    ...(verdict === null ? {} : { verdict: JSON.parse(verdict) as SpamVerdict }),
  }
}

// What contracts say of tokens. Ids are stored as bytes without leading zeros.

const findUris = `SELECT contract, token_id, CASE WHEN octet_length(uri) <= $2:int THEN uri END, octet_length(uri), read_at
  FROM token_uris
  WHERE chain = $1 AND (contract, token_id) IN $3:rows(bytes, bytes)`
const findWithUris = `SELECT value FROM EACH $2:blobs AS asked
  WHERE EXISTS (SELECT 1 FROM token_uris WHERE chain = $1 AND contract = asked.value)`

function putTokenUris(chain: number, uris: readonly TokenUri[]): Work<void> {
  const sorted = lastOfEach(uris, ({ contract, tokenId }) => `${contract} ${tokenId}`)
  const cells = sorted.map(({ contract, tokenId, uri, readAtMs }) => ({
    ...{ chain, contract: bytesOfHex(contract), token_id: tokenIdBytes(tokenId), uri, read_at: readAtMs },
  }))
  return put('token_uris', cells)
}

function tokenUriStore(core: Core): TokenUriStore {
  return {
    tokenUris: (chain, tokens, uriBytesMax = 2 ** 31 - 1) =>
      core.ofChain(chain, [], function* (ordinal) {
        const asked = tokens.map(({ contract, tokenId }) => [bytesOfHex(contract), tokenIdBytes(tokenId)])
        const found = yield* rows(findUris, ordinal, uriBytesMax, asked)
        return found.map(([contract, tokenId, uri, uriBytes, readAtMs]) => ({
          ...{ contract: hexOf<Address>(contract), tokenId: BigInt(hexOf(tokenId)), uri: textOf(uri), readAtMs },
          ...(uriBytes > uriBytesMax ? { uriBytes } : {}),
        }))
      }),
    contractsWithUris: (chain, contracts) =>
      core.ofChain(chain, new Set(), function* (ordinal) {
        const found = yield* rows(findWithUris, ordinal, contracts.map(bytesOfHex))
        return new Set(found.map(([contract]) => hexOf<Address>(contract)))
      }),
  }
}

function tokenIdBytes(tokenId: bigint): Buffer {
  const digits = tokenId.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

// Contracts by name or symbol and addresses by label. Beginnings come from an index; texts within names are looked for
// only where there are few names, because the thread or the server reads them all.

function nameStore({ engine }: Core): NameStore {
  return {
    async named(question) {
      const [contracts, labels] = await Promise.all([
        engine.read(() => findNamed(contractNames, question)),
        engine.read(() => findNamed(labelTexts, question)),
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
    ...{ chain, contract: hexOf<Address>(contract), name: textOf(name), symbol: textOf(symbol) },
  }),
}

const labelTexts: Named<RankedLabel> = {
  table: 'labels',
  key: 'address',
  columns: ['label'],
  foundOf: ([chain, address, label]) => ({
    ...{ chain: chain ?? undefined, address: hexOf<Address>(address), label: textOf(label)! },
  }),
}

function* findNamed<Found>(
  { table, key, columns, foundOf }: Named<Found>,
  { text, limit, readMax }: NameQuestion,
): Work<{ found: Found[]; anywhere: boolean }> {
  const joined = (some: string): string =>
    `SELECT chains.id, ${key}, ${columns} FROM (${some}) AS found LEFT JOIN chains ON ordinal = chain`
  const found: Row[] = []
  for (const column of columns) {
    const begins = `SELECT * FROM ${table} WHERE BEGINS(${column}, $1:utf8) ORDER BY BY_NAME(${column}) LIMIT $2`
    found.push(...(yield* rows(joined(begins), text, limit)))
  }
  const count = `SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT $1) AS counted`
  const anywhere = (yield* row(count, readMax + 1))![0] <= readMax
  if (anywhere) {
    const some = `SELECT chain, ${key}, ${columns} FROM ${table} LIMIT $3`
    const has = `SELECT * FROM (${some}) AS read WHERE ${columns.map(column => `HAS(${column}, $1:utf8)`).join(' OR ')} LIMIT $2`
    found.push(...(yield* rows(joined(has), text, limit, readMax)))
  }
  return { found: found.map(foundOf), anywhere }
}
