// Everything that is said of addresses and contracts, joined, and the exchange of all that one source says.

import { bytesOfHex } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import type { AnnotationStore, Label, SourceContent } from '../annotation-store.ts'
import { type ContractFacts, type ContractFactsStore, judgement, verifiedNamesMax } from '../annotation-store.ts'
import { textOf } from './arrays.ts'
import type { Database, Transaction } from './database.ts'
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

// What was read of contracts and what the rules say of them.

export function contractFactsStore(store: StoreDatabase): ContractFactsStore {
  const { database, dictionary } = store
  return {
    putContractFacts: async facts => {
      const ordinals = await dictionary.addOrdinals(facts.map(({ chain }) => chain))
      await store.writing(transaction => putContractFacts(transaction, ordinals, facts))
    },
    contractFacts: (chain, contract) =>
      store.ofChain(chain, undefined, ordinal => contractFacts(database, ordinal, chain, contract)),
    verifiedNames: () => verifiedNames(database),
  }
}

async function putContractFacts(
  transaction: Transaction,
  ordinals: Ordinals,
  facts: readonly ContractFacts[],
): Promise<void> {
  const bytes = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text))
  for (const { chain, contract, name, symbol, possibleSpam, reading, verdict } of facts)
    await transaction.run(
      `INSERT INTO contract_facts (chain, contract, name, symbol, possible_spam, reading, verdict)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (chain, contract) DO UPDATE SET name = excluded.name,
         symbol = excluded.symbol, possible_spam = excluded.possible_spam, reading = excluded.reading, verdict = excluded.verdict`,
      ordinals.get(chain) as number,
      bytesOfHex(contract),
      bytes(name),
      bytes(symbol),
      possibleSpam,
      reading === undefined ? null : JSON.stringify(reading),
      verdict === undefined ? null : JSON.stringify(verdict),
    )
}

async function contractFacts(
  database: Database,
  ordinal: number,
  chain: ChainId,
  contract: Address,
): Promise<ContractFacts | undefined> {
  const [row] = await database.read(
    'SELECT name, symbol, possible_spam, reading, verdict FROM contract_facts WHERE chain = $1 AND contract = $2',
    ordinal,
    bytesOfHex(contract),
  )
  if (row === undefined) return undefined
  return {
    chain,
    contract,
    name: textOf(row[0]),
    symbol: textOf(row[1]),
    possibleSpam: row[2] === 't',
    ...judgement(row[3], row[4]),
  }
}

async function verifiedNames(database: Database): Promise<string[]> {
  const rows = await database.read(
    `SELECT name FROM contract_facts JOIN contract_marks USING (chain, contract) WHERE verified AND name IS NOT NULL
     UNION SELECT label FROM labels JOIN contract_marks AS marks ON marks.contract = labels.address
     WHERE verified AND labels.chain IN (0, marks.chain) LIMIT ${verifiedNamesMax}`,
  )
  return rows.map(([name]) => textOf(name) as string)
}
