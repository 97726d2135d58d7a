// Looking up single keys of contracts in runs: one statement gives each pack that may have some of them once, with the
// numbers of the keys.
import type { View } from '../../runs/view.ts'
import { bytesOf } from '../arrays.ts'
import type { Row } from '../database.ts'
import { hasContract } from './runs.ts'

export type LooksSql = {
  view: View
  /**
   * What is looked for, as rows: `at`, `of_contract`, `look_key`, and of the blocks that it can be of `lowest` and
   * `highest`.
   */
  given: string
  slot: string
  chain: string
  /** Only in so many runs of each contract, those of the lowest blocks. */
  runsMax?: string
}

/** For a `WITH`: `given`, and `its_runs` of each contract that is looked for, numbered by their first blocks. */
export function lookedRunsSql({ view, given, slot, chain }: LooksSql): string {
  return `given AS MATERIALIZED (${given}), its_runs AS MATERIALIZED (
    SELECT of_contract, id, from_block, to_block,
      row_number() OVER (PARTITION BY of_contract ORDER BY from_block, id) AS rank
    FROM (SELECT of_contract, min(lowest) AS lowest, max(highest) AS highest FROM given GROUP BY of_contract) AS contracts
    CROSS JOIN LATERAL (SELECT id, from_block, to_block FROM runs WHERE slot = ${slot} AND chain = ${chain}
      AND view = ${view.id} AND from_block <= highest AND to_block >= lowest AND ${hasContract('of_contract')}) AS having_it)`
}

/**
 * After that `WITH`. Two columns: numbers of keys, and the pack of a run that has the last record at or before each of
 * them.
 */
export function lookedPacksSql({ slot, runsMax }: LooksSql): string {
  return `SELECT wanted, bytes FROM (SELECT id, pack_key, string_agg(int4send(at::int4), '') AS wanted
      FROM given JOIN its_runs USING (of_contract)
      CROSS JOIN LATERAL (SELECT key AS pack_key FROM packs WHERE slot = ${slot} AND run = id AND key <= look_key
        ORDER BY key DESC LIMIT 1) AS its_pack
      WHERE from_block <= highest AND to_block >= lowest ${runsMax === undefined ? '' : `AND rank <= ${runsMax}`}
      GROUP BY id, pack_key) AS looked
    JOIN packs ON slot = ${slot} AND run = id AND key = pack_key`
}

/** The numbers of a row. */
export function wantedOf(wanted: Row[number] | undefined): number[] {
  const bytes = bytesOf(wanted)
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readInt32BE(4 * at))
}
