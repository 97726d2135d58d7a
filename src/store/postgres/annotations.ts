// Labels, marks and facts of addresses, contracts and tokens, joined, and replacing all that one source says.
import { bytesOfHex } from '../../hex.ts'
import { type Address, zeroAddress } from '../../model.ts'
import type {
  AnnotationStore,
  ContractFactsStore,
  Label,
  SourceContent,
  TokenKey,
  TokenUriStore,
} from '../annotation-store.ts'
import { judgement, judgementValues, tokenIdBytes, tokenIdOf, verifiedNamesMax } from '../annotation-store.ts'
import { byteaArray, bytesOf, hexTextOf, int8Array, textOf } from './arrays.ts'
import type { Transaction } from './database.ts'
import type { Ordinals } from './dictionary.ts'
import { forgetLabels, labelStore, putLabels } from './labels.ts'
import { forgetMarks, markStore, putMarks } from './marks.ts'
import { nameStore } from './names.ts'
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
