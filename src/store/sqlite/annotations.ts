// Everything that is said of addresses and contracts, joined, and the exchange of all that one source says.

import { bytesOfHex } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import type { AnnotationStore, SourceContent } from '../annotation-store.ts'
import { type ContractFacts, type ContractFactsStore, judgement, verifiedNamesMax } from '../annotation-store.ts'
import type { Connection } from './connection.ts'
import type { Dictionary } from './dictionary.ts'
import { forgetLabels, labelStore, noteLabels, putLabels } from './labels.ts'
import { forgetMarks, markStore, putMarks } from './marks.ts'
import type { StoreFile, WriteContext } from './store-file.ts'
import { putCheckpoint } from './work.ts'

export function annotationStore(file: StoreFile): AnnotationStore {
  return {
    ...labelStore(file),
    ...markStore(file),
    ...contractFactsStore(file),
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

// What was read of contracts and what the rules say of them. Functions that take a connection run
// in their caller's transaction.

export function contractFactsStore(file: StoreFile): ContractFactsStore {
  return {
    putContractFacts: facts =>
      file.writing(({ connection, dictionary }) => putContractFacts(connection, dictionary, facts)),
    contractFacts: async (chain, contract) =>
      file.reading(read => contractFacts(read, file.dictionary, chain, contract)),
    verifiedNames: async () => file.reading(verifiedNames),
  }
}

function putContractFacts(connection: Connection, dictionary: Dictionary, facts: readonly ContractFacts[]): void {
  for (const { chain, contract, name, symbol, possibleSpam, reading, verdict } of facts)
    connection.run(
      `INSERT OR REPLACE INTO contract_facts (chain, contract, name, symbol, possible_spam, reading, verdict)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      dictionary.addOrdinal(chain),
      bytesOfHex(contract),
      name ?? null,
      symbol ?? null,
      possibleSpam ? 1 : 0,
      reading === undefined ? null : JSON.stringify(reading),
      verdict === undefined ? null : JSON.stringify(verdict),
    )
}

function contractFacts(
  connection: Connection,
  dictionary: Dictionary,
  chain: ChainId,
  contract: Address,
): ContractFacts | undefined {
  const ordinal = dictionary.ordinalOf(chain)
  if (ordinal === undefined) return undefined
  const row = connection.get(
    'SELECT name, symbol, possible_spam, reading, verdict FROM contract_facts WHERE chain = ? AND contract = ?',
    ordinal,
    bytesOfHex(contract),
  )
  if (row === undefined) return undefined
  return {
    chain,
    contract,
    name: (row[0] as string | null) ?? undefined,
    symbol: (row[1] as string | null) ?? undefined,
    possibleSpam: row[2] === 1,
    ...judgement(row[3] as string | null, row[4] as string | null),
  }
}

function verifiedNames(connection: Connection): string[] {
  return connection
    .all(
      `SELECT name FROM contract_facts JOIN contract_marks USING (chain, contract) WHERE verified = 1 AND name IS NOT NULL
       UNION SELECT label FROM contract_marks AS marks CROSS JOIN labels ON labels.address = marks.contract
       WHERE verified = 1 AND labels.chain IN (0, marks.chain) LIMIT ${verifiedNamesMax}`,
    )
    .map(([name]) => name as string)
}
