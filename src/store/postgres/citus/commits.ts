// What a commit on Citus leaves open: it has two phases, so the coordinator's part is visible first and each worker's
// on its own; that of a worker which is lost in between waits until Citus recovers it. It knows no table
// of ours.
import { setTimeout as delay } from 'node:timers/promises'
import { AlmanacError } from '../../../errors.ts'
import type { Database } from '../database.ts'

const pauseMs = 100

const prepared =
  "SELECT string_agg(gid, ' ') FROM pg_prepared_xacts WHERE gid LIKE 'citus%' AND database = current_database()"
const preparedSql = `SELECT true, (${prepared}) UNION ALL SELECT success, result FROM run_command_on_workers($sql$${prepared}$sql$)`

/** Waits until all that was committed before the call is visible on every worker. */
export async function visibleEverywhere(database: Database): Promise<void> {
  const deadlineMs = performance.now() + database.stallMsMax
  let left: ReadonlySet<string> | undefined
  for (;;) {
    const now = await preparedNow(database)
    // Those that come later are not waited for: under load there are always some.
    if (now !== undefined) left = left?.intersection(now) ?? now
    if (left?.size === 0) return
    if (performance.now() > deadlineMs)
      throw new AlmanacError(
        'store_failed',
        `The database ${database.location} has ${left === undefined ? 'a worker that does not answer' : 'commits that a worker has not finished'}.`,
        {
          hint: 'check that every worker runs; citus.recover_2pc_interval says how soon Citus finishes such commits.',
          ...{ retryable: true, retryAfterMs: 1_000 },
        },
      )
    await delay(pauseMs)
  }
}

/** Undefined where a worker does not answer. */
async function preparedNow(database: Database): Promise<ReadonlySet<string> | undefined> {
  const rows = await database.read(preparedSql)
  if (rows.some(([success]) => success !== 't')) return undefined
  return new Set(rows.flatMap(([, gids]) => gids?.split(' ') ?? []).filter(gid => gid !== ''))
}
