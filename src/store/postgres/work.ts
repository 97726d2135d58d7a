// Work that processes ask of each other, their heartbeats, leases and checkpoints. Time is the server's, and may
// step in both directions. Waiting is polling: a notification would not pass through PgBouncer.

import type { ChainId } from '../../model.ts'
import { leaseLost } from '../commit-rules.ts'
import type { CheckpointStore, Lease, LeaseStore } from '../store.ts'
import { heartbeatsKeptMs, heldMsMax, type WorkStore, workKeptMs } from '../work-store.ts'
import { textArray } from './arrays.ts'
import { noteAsked } from './coverage-table.ts'
import type { Database, Transaction } from './database.ts'
import type { StoreDatabase } from './store-database.ts'

const milliseconds = (parameter: string): string => `${parameter}::float8 * interval '1 millisecond'`

const request = `INSERT INTO work AS known (name, topic, asked_at, wanted_until, taken_until)
  VALUES ($1, $2, clock_timestamp(), clock_timestamp() + ${milliseconds('$3')}, '-infinity')
  ON CONFLICT (name) DO UPDATE SET
    asked_at = CASE WHEN known.outcome IS NULL THEN known.asked_at ELSE excluded.asked_at END,
    wanted_until = greatest(known.wanted_until, excluded.wanted_until),
    taken_until = CASE WHEN known.outcome IS NULL THEN known.taken_until ELSE excluded.taken_until END,
    outcome = NULL`
const waiting = `outcome IS NULL AND wanted_until > clock_timestamp() AND taken_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '${heldMsMax} milliseconds' AND topic = ANY($1::text[])`
const take = `WITH forgotten AS (DELETE FROM work
    WHERE wanted_until < clock_timestamp() - interval '${workKeptMs} milliseconds'
      OR (asked_at > clock_timestamp() + interval '${workKeptMs} milliseconds' AND outcome IS NOT NULL)),
  next AS (SELECT name FROM work WHERE ${waiting} ORDER BY asked_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  UPDATE work SET taken_until = clock_timestamp() + ${milliseconds('$3')} FROM next WHERE work.name = next.name
  RETURNING work.name, topic, extract(epoch FROM wanted_until - clock_timestamp()) * 1000`
const finished = 'SELECT name, outcome FROM work WHERE name = ANY($1::text[]) AND outcome IS NOT NULL'
const beat = `WITH old AS (
    DELETE FROM heartbeats WHERE process <> $1
      AND abs(extract(epoch FROM clock_timestamp() - at)) * 1000 > ${heartbeatsKeptMs})
  INSERT INTO heartbeats VALUES ($1, clock_timestamp(), $2)
  ON CONFLICT (process) DO UPDATE SET at = excluded.at, report = excluded.report`
const heartbeats =
  'SELECT process, extract(epoch FROM clock_timestamp() - at) * 1000, report FROM heartbeats ORDER BY at DESC'

export function workStore(database: Database): WorkStore {
  return {
    async requestWork({ name, topic, waitMs }) {
      await database.write(request, name, topic, waitMs)
    },
    async takeWork({ topics, holdMs, limit }) {
      const rows = (await database.write(take, textArray(topics), limit, holdMs)) as [string, string, string][]
      return rows.map(([name, topic, waitMs]) => ({ name, topic, waitMs: Math.max(0, Number(waitMs)) }))
    },
    async finishWork(name, outcome) {
      await database.write('UPDATE work SET outcome = $2 WHERE name = $1', name, outcome)
    },
    workOutcomes: async names => new Map((await database.read(finished, textArray(names))) as [string, string][]),
    async putHeartbeat(process, report) {
      if (report === undefined) await database.write('DELETE FROM heartbeats WHERE process = $1', process)
      else await database.write(beat, process, report)
    },
    async heartbeats() {
      const rows = (await database.read(heartbeats)) as [string, string, string][]
      return rows.map(([process, ageMs, report]) => ({ process, ageMs: Math.abs(Number(ageMs)), report }))
    },
  }
}

// Leases: which holder may do a piece of work, and the check that it still may. Time is the server's.

const claim = `INSERT INTO leases AS known (name, holder, token, expires_at)
  VALUES ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
    token = known.token + (known.holder IS DISTINCT FROM excluded.holder)::int4
  WHERE known.holder IS NOT DISTINCT FROM excluded.holder OR known.expires_at <= clock_timestamp()
    OR known.expires_at > clock_timestamp() + interval '${heldMsMax} milliseconds' RETURNING token`
/** The row stays, because the next token must be higher. */
const release = "UPDATE leases SET holder = NULL, expires_at = '-infinity' WHERE name = $1 AND token = $2"

/** Without `fenced`, which needs every table that a lease guards. */
export function leases(store: StoreDatabase): Omit<LeaseStore, 'fenced'> {
  return {
    claim: (name, holder, ttlMs) =>
      store.writingUnseen(async transaction => {
        const [row] = await transaction.query(claim, name, holder, ttlMs)
        return row === undefined ? undefined : { name, token: Number(row[0]) }
      }),
    release: ({ name, token }) =>
      store.writingUnseen(async transaction => {
        await transaction.run(release, name, token)
      }),
  }
}

/**
 * At the end of a transaction: from here to the commit no other process can claim the name. A holder that stops right
 * here, as a paused machine does, is rolled back by the server (`idle_in_transaction_session_timeout`), and the claim
 * goes through.
 */
export async function requireLease(transaction: Transaction, lease: Lease): Promise<void> {
  const find = 'SELECT 1 FROM leases WHERE name = $1 AND token = $2 FOR SHARE'
  if ((await transaction.query(find, lease.name, lease.token)).length === 0) throw leaseLost(lease)
}

// Small named texts that must survive a restart. No answer shows them.

export function checkpointStore(store: StoreDatabase): CheckpointStore {
  return {
    async checkpoint(name) {
      const [row] = await store.database.read('SELECT value FROM checkpoints WHERE name = $1', name)
      return row?.[0] ?? undefined
    },
    putCheckpoint: (name, value) => store.writingUnseen(transaction => putCheckpoint(transaction, name, value)),
    noteAsked: (chain, contract, day) =>
      store.ofChain(chain, undefined, ordinal =>
        store.writingUnseen(transaction => noteAsked(transaction, ordinal, contract, day)),
      ),
  }
}

export async function forgetWallets(transaction: Transaction, chain: ChainId, below: number): Promise<void> {
  const forget = `DELETE FROM checkpoints WHERE name LIKE $1 AND (value::jsonb ->> 'block')::int8 < $2`
  await transaction.run(forget, `wallet/${chain}/%`, below)
}

export async function putCheckpoint(transaction: Transaction, name: string, value: string): Promise<void> {
  const put = 'INSERT INTO checkpoints VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value'
  await transaction.run(put, name, value)
}
