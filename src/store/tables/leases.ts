// Checkpoints, which no answer shows, and leases: which holder may do a piece of work, and the check that it still may.
// The clock may step in both directions.
import { leaseLost } from '../commit-rules.ts'
import { type Engine, plainUnseen, put, row, run, type Work, written } from '../core/work.ts'
import type { CheckpointStore, Lease, LeaseStore } from '../store.ts'
import { heldMsMax } from '../store.ts'

export function checkpointStore(engine: Engine): CheckpointStore {
  return {
    checkpoint: async name =>
      (await engine.read(() => row('SELECT value FROM checkpoints WHERE name = $1', name)))?.[0],
    putCheckpoint: (name, value) => engine.write(() => putCheckpoint(name, value), plainUnseen),
  }
}

export function putCheckpoint(name: string, value: string): Work<void> {
  return put('checkpoints', [{ name, value }])
}

/** Without `fenced`, which needs every table that a lease guards. */
export function leaseStore(engine: Engine): Omit<LeaseStore, 'fenced'> {
  return {
    claim: (name, holder, ttlMs) => engine.write(() => claimLease(name, holder, ttlMs), plainUnseen),
    release: async ({ name, token }) => {
      await engine.write(() => run(release, name, token), plainUnseen)
    },
  }
}

const claim = `INSERT INTO leases AS known (name, holder, token, expires_at) VALUES ($1, $2, 1, now_ms() + $3)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
    token = known.token + CASE WHEN known.holder IS DISTINCT FROM excluded.holder THEN 1 ELSE 0 END
  WHERE known.holder IS NOT DISTINCT FROM excluded.holder OR known.expires_at <= now_ms()
    OR known.expires_at > now_ms() + ${heldMsMax} RETURNING token`
/** The row stays, because the next token must be higher. */
const release = 'UPDATE leases SET holder = NULL, expires_at = 0 WHERE name = $1 AND token = $2'

function* claimLease(name: string, holder: string, ttlMs: number): Work<Lease | undefined> {
  const [claimed] = yield* written(claim, name, holder, Math.ceil(ttlMs))
  return claimed && { name, token: claimed[0] }
}

/**
 * Within the transaction that the lease guards. On PostgreSQL at its end: from here to the commit no other process can
 * claim the name. A holder that stops right here, as a paused machine does, is rolled back by the server
 * (`idle_in_transaction_session_timeout`), and the claim goes through.
 */
export function* requireLease(lease: Lease): Work<void> {
  const held = yield* row('SELECT 1 FROM leases WHERE name = $1 AND token = $2 FOR SHARE', lease.name, lease.token)
  if (held === undefined) throw leaseLost(lease)
}
