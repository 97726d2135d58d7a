// Leases: which holder may do a piece of work, and the check that it still may. The clock may step in both directions.
import { leaseLost } from '../commit-rules.ts'
import type { Lease, LeaseStore } from '../store.ts'
import { heldMsMax } from '../store.ts'
import { row, run, type Sql, type Tables, written } from './sql.ts'

/** Without `fenced`, which needs every table that a lease guards. */
export function leaseStore(tables: Tables): Omit<LeaseStore, 'fenced'> {
  return {
    claim: (name, holder, ttlMs) => tables.writingUnseen(() => claimLease(name, holder, ttlMs)),
    release: async ({ name, token }) => {
      await tables.writingUnseen(() => run(release, name, token))
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

function* claimLease(name: string, holder: string, ttlMs: number): Sql<Lease | undefined> {
  const [claimed] = yield* written<[number]>(claim, name, holder, Math.ceil(ttlMs))
  return claimed && { name, token: claimed[0] }
}

/**
 * Within the transaction that the lease guards. On PostgreSQL at its end: from here to the commit no other process can
 * claim the name. A holder that stops right here, as a paused machine does, is rolled back by the server
 * (`idle_in_transaction_session_timeout`), and the claim goes through.
 */
export function* requireLease(lease: Lease): Sql<void> {
  const held = yield* row('SELECT 1 FROM leases WHERE name = $1 AND token = $2 FOR SHARE', lease.name, lease.token)
  if (held === undefined) throw leaseLost(lease)
}
