// Labels of addresses and facts of contracts.
import type { Address, ChainId } from '../../model.ts'
import { type AnnotationFilter, annotationRanks } from '../annotation-rank.ts'
import { bytesOfHex } from '../bytes.ts'
import type { ContractFacts } from '../contract-facts-store.ts'
import { judgement } from '../judgement.ts'
import type { LabelAddresses } from '../label-filter.ts'
import type { Label, LabelKey } from '../label-store.ts'
import { byteaArray, int4Array, int8Array, textArray } from './arrays.ts'
import type { Database, Row, Transaction, Value } from './database.ts'
import { bytesOf, hexTextOf, textOf } from './values.ts'

const everyChain = 0

/** Ordinals of the chains that labels name, found before the transaction begins. */
export type Ordinals = ReadonlyMap<ChainId, number>

function ordinalOf(chain: ChainId | undefined, ordinals: Ordinals): number | undefined {
  return chain === undefined ? everyChain : ordinals.get(chain)
}

/** The last one of each address, chain and source stays: one statement cannot write one row twice. */
export async function putLabels(transaction: Transaction, ordinals: Ordinals, labels: readonly Label[]): Promise<void> {
  const byKey = new Map(labels.map(label => [`${label.address} ${label.chain} ${label.source}`, label]))
  const sorted = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, label]) => label)
  await transaction.run(
    `INSERT INTO labels (address, chain, source, rank, label, updated_at)
     SELECT * FROM unnest($1::bytea[], $2::int4[], $3::text[], $4::int4[], $5::bytea[], $6::int8[])
     ON CONFLICT (address, chain, source) DO UPDATE SET rank = excluded.rank, label = excluded.label,
       updated_at = excluded.updated_at`,
    byteaArray(sorted.map(label => bytesOfHex(label.address))),
    int4Array(sorted.map(label => ordinalOf(label.chain, ordinals) as number)),
    textArray(sorted.map(label => label.source)),
    int4Array(sorted.map(label => annotationRanks.indexOf(label.rank))),
    byteaArray(sorted.map(label => Buffer.from(label.label))),
    int8Array(sorted.map(label => label.updatedAt)),
  )
}

export async function removeLabels(
  transaction: Transaction,
  ordinals: Ordinals,
  labels: readonly LabelKey[],
): Promise<number> {
  const known = labels.filter(label => ordinalOf(label.chain, ordinals) !== undefined)
  return await transaction.run(
    `DELETE FROM labels WHERE (address, chain, source) IN (SELECT * FROM unnest($1::bytea[], $2::int4[], $3::text[]))`,
    byteaArray(known.map(label => bytesOfHex(label.address))),
    int4Array(known.map(label => ordinalOf(label.chain, ordinals) as number)),
    textArray(known.map(label => label.source)),
  )
}

/** The better rank wins, then a label of this very chain, then the newer one. */
const strongestFirst = 'rank, chain DESC, updated_at DESC, source'

export async function labelsOf(
  database: Database,
  ordinal: number | undefined,
  addresses: readonly Address[],
): Promise<Map<Address, string>> {
  const rows = await database.read(
    `SELECT DISTINCT ON (address) address, label FROM labels WHERE address = ANY($1::bytea[]) AND chain IN (${everyChain}, $2)
     ORDER BY address, ${strongestFirst}`,
    byteaArray([...new Set(addresses)].map(bytesOfHex)),
    ordinal ?? everyChain,
  )
  return new Map(rows.map(([address, label]) => [hexTextOf<Address>(address), textOf(label) as string]))
}

const columns = 'address, chains.id, source, rank, label, updated_at FROM labels LEFT JOIN chains ON ordinal = chain'

export async function labelCandidates(
  database: Database,
  ordinal: number | undefined,
  address: Address,
): Promise<Label[]> {
  const sql = `SELECT ${columns} WHERE address = $1 AND chain IN (${everyChain}, $2) ORDER BY ${strongestFirst}`
  return (await database.read(sql, bytesOfHex(address), ordinal ?? everyChain)).map(labelOf)
}

export async function labelsAfter(
  database: Database,
  filter: AnnotationFilter,
  ordinals: { filter: number | undefined; after: number | undefined },
  after: LabelKey | undefined,
  limit: number,
): Promise<Label[]> {
  const { conditions, values } = filterConditions(filter, ordinals.filter)
  if (after !== undefined)
    conditions.push(
      `(address, chain, source) > ($${values.push(bytesOfHex(after.address))}, $${values.push(ordinals.after ?? everyChain)}, $${values.push(after.source)})`,
    )
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const sql = `SELECT ${columns} ${where} ORDER BY address, chain, source LIMIT $${values.push(limit)}`
  return (await database.read(sql, ...values)).map(labelOf)
}

/** No chain has the ordinal -1. */
export function filterConditions(
  { chain, source, rank }: AnnotationFilter,
  ordinal: number | undefined,
): { conditions: string[]; values: Value[] } {
  const filters: [string, Value | undefined][] = [
    ['chain', chain === undefined ? undefined : (ordinal ?? -1)],
    ['source', source],
    ['rank', rank === undefined ? undefined : annotationRanks.indexOf(rank)],
  ]
  const given = filters.filter(([, value]) => value !== undefined)
  return {
    conditions: given.map(([column], index) => `${column} = $${index + 1}`),
    values: given.map(([, value]) => value as Value),
  }
}

function labelOf([address, chain, source, rank, label, updatedAt]: Row): Label {
  return {
    chain: chain === null ? undefined : (Number(chain) as ChainId),
    address: hexTextOf<Address>(address),
    label: textOf(label) as string,
    source: source as string,
    rank: annotationRanks[Number(rank)]!,
    updatedAt: Number(updatedAt),
  }
}

export function labelAddresses(database: Database, version: () => number, isOpen: () => boolean): LabelAddresses {
  return {
    version,
    isOpen,
    after: async (after, limit) => {
      const rows = await database.read(
        'SELECT DISTINCT address FROM labels WHERE address > $1 ORDER BY address LIMIT $2',
        after,
        limit,
      )
      return rows.length === 0 ? undefined : Buffer.concat(rows.map(([address]) => bytesOf(address)))
    },
  }
}

export async function forgetSource(transaction: Transaction, source: string): Promise<void> {
  await transaction.run('DELETE FROM labels WHERE source = $1', source)
  await transaction.run('DELETE FROM contract_marks WHERE source = $1', source)
}

export async function putContractFacts(
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

export async function contractFacts(
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

const verifiedNamesMax = 10_000

export async function verifiedNames(database: Database): Promise<string[]> {
  const rows = await database.read(
    `SELECT name FROM contract_facts JOIN contract_marks USING (chain, contract) WHERE verified AND name IS NOT NULL
     UNION SELECT label FROM labels JOIN contract_marks AS marks ON marks.contract = labels.address
     WHERE verified AND labels.chain IN (${everyChain}, marks.chain) LIMIT ${verifiedNamesMax}`,
  )
  return rows.map(([name]) => textOf(name) as string)
}
