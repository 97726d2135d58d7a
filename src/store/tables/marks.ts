// Marks: what the operator, imported lists and the built-in pack say of contracts.
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import { annotationRanks, type Mark, type MarkKey, type MarkStore } from '../annotation-store.ts'
import { walkOf } from './labels.ts'
import {
  type Cell,
  lastOfEach,
  type Ordinals,
  over,
  type Row,
  replacing,
  rows,
  run,
  runOver,
  type Sql,
  type Tables,
} from './sql.ts'

export function markStore(tables: Tables): MarkStore {
  return {
    async marksOf(chain, contract) {
      const ordinal = await tables.ordinalOf(chain)
      if (ordinal === undefined) return []
      return (await tables.reading(() => rows(ofContract, ordinal, bytesOfHex(contract)))).map(markOf)
    },
    async marks(filter, after, limit) {
      const walked = await walkOf(
        tables,
        filter,
        'chain, contract, source',
        after && {
          chain: after.chain,
          place: ordinal => [ordinal ?? -1, bytesOfHex(after.contract), after.source],
        },
      )
      const find = `SELECT ${columns} ${walked.where} ORDER BY chain, contract, source LIMIT $${walked.values.length + 1}`
      return (await tables.reading(() => rows(find, ...walked.values, limit))).map(markOf)
    },
  }
}

const columns =
  'chains.id, contract, source, rank, verified, spam, updated_at FROM contract_marks JOIN chains ON ordinal = chain'
const ofContract = `SELECT ${columns} WHERE chain = $1 AND contract = $2 ORDER BY rank, updated_at DESC, source`

function markOf([chain, contract, source, rank, verified, spam, updatedAt]: Row): Mark {
  const flag = (value: Cell | undefined) => (value === null ? undefined : value === 1)
  return {
    ...{ chain: chain as ChainId, contract: hexOf<Address>(contract as Uint8Array), source: source as string },
    ...{ rank: annotationRanks[rank as number]!, updatedAt: updatedAt as number },
    ...{ verified: flag(verified), spam: flag(spam) },
  }
}

const put = over(
  'chain int4, contract bytea, source text, rank int4, verified int8, spam int8, updated_at int8',
  `INSERT INTO contract_marks AS known (chain, contract, source, rank, verified, spam, updated_at)
   SELECT * FROM given WHERE true ON CONFLICT (chain, contract, source) DO UPDATE SET ${replacing('rank', 'updated_at')},
     verified = coalesce(excluded.verified, known.verified), spam = coalesce(excluded.spam, known.spam)`,
)

/** Joins the marks of one contract by one source first. */
export function* putMarks(ordinals: Ordinals, marks: readonly Mark[]): Sql<void> {
  const joined = new Map<string, Mark>()
  const keyOf = ({ chain, contract, source }: MarkKey): string => `${chain} ${contract} ${source}`
  for (const mark of marks) {
    const { verified, spam } = joined.get(keyOf(mark)) ?? {}
    joined.set(keyOf(mark), { ...mark, verified: mark.verified ?? verified, spam: mark.spam ?? spam })
  }
  const flag = (value: boolean | undefined) => (value === undefined ? null : Number(value))
  yield* runOver(
    put,
    lastOfEach([...joined.values()], keyOf).map(mark => [
      ...keyCells(mark, ordinals),
      ...[annotationRanks.indexOf(mark.rank), flag(mark.verified), flag(mark.spam), mark.updatedAt],
    ]),
  )
}

function keyCells({ chain, contract, source }: MarkKey, ordinals: Ordinals): Cell[] {
  return [ordinals.get(chain)!, bytesOfHex(contract), source]
}

const remove = over(
  'chain int4, contract bytea, source text',
  'DELETE FROM contract_marks WHERE (chain, contract, source) IN (SELECT chain, contract, source FROM given)',
)

export function removeMarks(ordinals: Ordinals, marks: readonly MarkKey[]): Sql<number> {
  return runOver(
    remove,
    marks.filter(({ chain }) => ordinals.has(chain)).map(mark => keyCells(mark, ordinals)),
  )
}

export function* forgetMarks(source: string): Sql<void> {
  yield* run('DELETE FROM contract_marks WHERE source = $1', source)
}
