// Looks for damage in a file: in its structure, and by the kept counts of transfers. It mends nothing.
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../errors.ts'
import { idCountOf } from '../transfer-payload.ts'
import { storeFailure } from './failures.ts'
import { isRangeSql } from './transfer-rows.ts'

/** `ok`, or the first damage. The file may be in use. */
export function findDamage(path: string): string {
  const file = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    return verdictOf(file)
  } catch (error) {
    const failure = storeFailure(error, `file:${path}`)
    if (failure.code === 'store_corrupt') return messageOf(error)
    throw failure
  } finally {
    file.close()
  }
}

export function verdictOf(file: DatabaseSync): string {
  const structure = String(Object.values(file.prepare('PRAGMA quick_check(1)').get() ?? {})[0])
  return structure === 'ok' ? (wrongCountIn(file) ?? 'ok') : structure
}

/** SQLite has no checksums: a page that was written over by another sound one shows only in what it no longer holds. */
function wrongCountIn(file: DatabaseSync): string | undefined {
  file.function('id_count', { deterministic: true }, payload => idCountOf(payload as unknown as Uint8Array))
  const rows = 'FROM transfers WHERE contract = contracts.id'
  const moreIds = `(SELECT coalesce(sum(id_count(payload) - 1), 0) ${rows} AND ${isRangeSql})`
  const wrong = file
    .prepare(
      `SELECT lower(hex(address)) AS address, contracts.transfers AS counted,
         (SELECT count(*) ${rows}) + CASE has_ranges WHEN 1 THEN ${moreIds} ELSE 0 END AS held,
         (SELECT coalesce(sum(transfers), 0) FROM transfer_counts WHERE contract = contracts.id) AS summed
       FROM contracts WHERE held <> counted OR summed <> counted LIMIT 1`,
    )
    .get()
  if (wrong === undefined) return undefined
  const { address, counted, held, summed } = wrong
  return `0x${address} has ${held} transfers; ${counted} were counted, and ${summed} by blocks`
}
