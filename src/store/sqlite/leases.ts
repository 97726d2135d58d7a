// Leases: which holder may do a piece of work, and the check that it still may. Functions that take a connection run
// in their caller's transaction.
import { leaseLost } from '../commit-rules.ts'
import type { Lease, LeaseStore } from '../lease-store.ts'
import type { Connection } from './connection.ts'
import type { StoreFile } from './store-file.ts'

/** Without `fenced`, which needs every table that a lease guards. */
export function leases(file: StoreFile): Omit<LeaseStore, 'fenced'> {
  return {
    claim: (name, holder, ttlMs) => file.writingUnseen(connection => claim(connection, name, holder, ttlMs)),
    release: lease => file.writingUnseen(connection => release(connection, lease)),
  }
}

function claim(connection: Connection, name: string, holder: string, ttlMs: number): Lease | undefined {
  const now = Date.now()
  const row = connection.get(
    `INSERT INTO leases VALUES (?1, ?2, 1, ?3) ON CONFLICT DO UPDATE SET holder = excluded.holder,
       token = token + (holder IS NOT excluded.holder), expires_at = excluded.expires_at
     WHERE holder IS excluded.holder OR expires_at <= ?4 RETURNING token`,
    name,
    holder,
    now + ttlMs,
    now,
  )
  return row === undefined ? undefined : { name, token: row[0] as number }
}

/** The row stays, because the next token must be higher. */
function release(connection: Connection, { name, token }: Lease): void {
  connection.run('UPDATE leases SET holder = NULL, expires_at = 0 WHERE name = ? AND token = ?', name, token)
}

export function requireLease(connection: Connection, lease: Lease): void {
  const held = connection.get('SELECT 1 FROM leases WHERE name = ? AND token = ?', lease.name, lease.token)
  if (held === undefined) throw leaseLost(lease)
}
