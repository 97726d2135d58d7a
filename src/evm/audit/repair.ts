// Mends a range that differs from the chain: its transfers and every claim on them are dropped, then it is indexed again through the
// usual checks. Activity is widened by what is read again; a first or last transaction that never was cannot be taken back this way.
import { type SyncOptions, syncRange } from '../index/sync-range.ts'
import type { AuditTarget } from './audit.ts'

export async function repairRange(
  { interval, contract }: AuditTarget,
  options: Omit<SyncOptions, 'interval' | 'scope'>,
  signal: AbortSignal,
): Promise<void> {
  await options.store.dropRange(options.chain.id, contract ?? 'full', interval)
  await syncRange({ ...options, interval, scope: contract === undefined ? 'full' : [contract] }, signal)
}
