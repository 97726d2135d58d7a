// Work that processes ask of each other, and their heartbeats. The clock may step in both directions. Waiting is
// polling: a notification of PostgreSQL would not pass through PgBouncer.
import { type Engine, row, rows, run, type Work, written } from '../core/work.ts'
import { type Heartbeat, heartbeatsKeptMs, heldMsMax, type WorkRequest, type WorkStore, workKeptMs } from '../store.ts'

export function workStore({ shared }: Engine): WorkStore {
  return {
    requestWork: request => shared.state(() => requestWork(request)),
    async takeWork(asked) {
      // A look costs no write while there is nothing to take.
      const isSome = await shared.read(() => row(`SELECT 1 FROM work WHERE ${waiting} LIMIT 1`, asked.topics))
      return isSome === undefined ? [] : await shared.state(() => takeWork(asked))
    },
    finishWork: async (name, outcome) => {
      await shared.state(() => run('UPDATE work SET outcome = $2 WHERE name = $1', name, outcome))
    },
    workOutcomes: async names => new Map(await shared.read(() => outcomes(names))),
    putHeartbeat: (process, report) => shared.state(() => putHeartbeat(process, report)),
    heartbeats: () => shared.read(heartbeats),
  }
}

const request = `INSERT INTO work AS known (name, topic, asked_at, wanted_until, taken_until, outcome)
  VALUES ($1, $2, now_ms(), now_ms() + $3, 0, NULL) ON CONFLICT (name) DO UPDATE SET
    asked_at = CASE WHEN known.outcome IS NULL THEN known.asked_at ELSE excluded.asked_at END,
    wanted_until = greatest(known.wanted_until, excluded.wanted_until),
    taken_until = CASE WHEN known.outcome IS NULL THEN known.taken_until ELSE 0 END,
    outcome = NULL`

function* requestWork({ name, topic, waitMs }: WorkRequest): Work<void> {
  yield* run(request, name, topic, Math.ceil(waitMs))
}

const waiting = `outcome IS NULL AND wanted_until > now_ms()
  AND taken_until NOT BETWEEN now_ms() + 1 AND now_ms() + ${heldMsMax} AND topic IN $1:texts`
const take = `WITH next AS (SELECT name FROM work WHERE ${waiting} ORDER BY asked_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  UPDATE work SET taken_until = now_ms() + $3 FROM next WHERE work.name = next.name
  RETURNING work.name, topic, greatest(0, wanted_until - now_ms()), asked_at`
const forget = `DELETE FROM work WHERE wanted_until < now_ms() - ${workKeptMs}
  OR (asked_at > now_ms() + ${workKeptMs} AND outcome IS NOT NULL)`

function* takeWork({ topics, holdMs, limit }: Parameters<WorkStore['takeWork']>[0]): Work<WorkRequest[]> {
  const taken = yield* written(take, topics, limit, Math.ceil(holdMs))
  yield* run(forget)
  return taken.sort(([, , , a], [, , , b]) => a - b).map(([name, topic, waitMs]) => ({ name, topic, waitMs }))
}

function* outcomes(names: readonly string[]): Work<[string, string][]> {
  const finished = 'SELECT name, outcome FROM work WHERE outcome IS NOT NULL AND name IN $1:texts'
  return (yield* rows(finished, names)) as [string, string][]
}

const beat = `INSERT INTO heartbeats (process, at, report) VALUES ($1, now_ms(), $2)
  ON CONFLICT (process) DO UPDATE SET at = excluded.at, report = excluded.report`

function* putHeartbeat(process: string, report: string | undefined): Work<void> {
  if (report === undefined) yield* run('DELETE FROM heartbeats WHERE process = $1', process)
  else yield* run(beat, process, report)
  yield* run(`DELETE FROM heartbeats WHERE process <> $1 AND abs(at - now_ms()) > ${heartbeatsKeptMs}`, process)
}

function* heartbeats(): Work<Heartbeat[]> {
  const find = 'SELECT process, abs(at - now_ms()), report FROM heartbeats ORDER BY at DESC'
  const found = yield* rows(find)
  return found.map(([process, ageMs, report]) => ({ process, ageMs, report }))
}
