// Leases: which holder may do a piece of work, and the check that it still may. Time is the server's.
import { leaseLost } from '../commit-rules.ts'
import type { Lease, LeaseStore } from '../lease-store.ts'
import type { Transaction } from './database.ts'
import type { StoreDatabase } from './store-database.ts'

/** Without `fenced`, which needs every table that a lease guards. */
export function leases(store: StoreDatabase): Omit<LeaseStore, 'fenced'> {
  return {
    claim: (name, holder, ttlMs) => store.writingUnseen(transaction => claim(transaction, name, holder, ttlMs)),
    release: lease => store.writingUnseen(transaction => release(transaction, lease)),
  }
}

async function claim(
  transaction: Transaction,
  name: string,
  holder: string,
  ttlMs: number,
): Promise<Lease | undefined> {
  const [row] = await transaction.query(
    `INSERT INTO leases AS known (name, holder, token, expires_at)
     VALUES ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
       token = known.token + (known.holder IS DISTINCT FROM excluded.holder)::int4
     WHERE known.holder IS NOT DISTINCT FROM excluded.holder OR known.expires_at <= clock_timestamp() RETURNING token`,
    name,
    holder,
    ttlMs,
  )
  return row === undefined ? undefined : { name, token: Number(row[0]) }
}

/** The row stays, because the next token must be higher. */
async function release(transaction: Transaction, { name, token }: Lease): Promise<void> {
  await transaction.run(
    "UPDATE leases SET holder = NULL, expires_at = '-infinity' WHERE name = $1 AND token = $2",
    name,
    token,
  )
}

/**
 * At the end of a transaction: from here to the commit nobody else can claim the name. A holder that stops right here, as a
 * paused machine does, is rolled back by the server (`idle_in_transaction_session_timeout`), and the claim goes through.
 */
export async function requireLease(transaction: Transaction, lease: Lease): Promise<void> {
  const held = await transaction.query(
    'SELECT 1 FROM leases WHERE name = $1 AND token = $2 FOR SHARE',
    lease.name,
    lease.token,
  )
  if (held.length === 0) throw leaseLost(lease)
}
