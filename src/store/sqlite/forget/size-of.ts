// How much of a chain, a contract or a view is stored, without reading all of it.
import { activityView } from '../../runs/activity-view.ts'
import { transferView } from '../../runs/transfer-view.ts'
import type { Forgotten, ForgottenSize } from '../../store.ts'
import type { Connection, Row } from '../connection.ts'

const sampleRows = 100_000
/** Addresses are spread evenly: those below this one are one of 256. */
const sampleEnd = Buffer.from([1])

/** `transferCount`: of the contract alone, where it is one. */
export function sizeOf(
  read: Connection,
  ordinal: number,
  { contract, view }: Forgotten,
  transferCount: number,
): ForgottenSize {
  if (contract !== undefined) return { transfers: transferCount, wallets: 0 }
  const recordsOf = (id: number): number => {
    const sum = 'SELECT coalesce(sum(records), 0) FROM runs WHERE chain = ? AND view = ?'
    return (read.get(sum, ordinal, id) as Row)[0] as number
  }
  if (view !== undefined && view !== 'activity') return { transfers: 0, wallets: 0 }
  const wallets = walletsInTable(read, ordinal) + recordsOf(activityView.id)
  if (view !== undefined) return { transfers: 0, wallets }
  // Below zero is what runs lost, whose numbers of records know of it.
  const counted = 'SELECT coalesce(sum(max(transfers, 0)), 0) FROM contracts WHERE chain = ?'
  const inTable = (read.get(counted, ordinal) as Row)[0] as number
  return { transfers: inTable + recordsOf(transferView.id), wallets }
}

function walletsInTable(read: Connection, ordinal: number): number {
  const first = 'SELECT count(*), coalesce(sum(chain = ?), 0) FROM (SELECT chain FROM activity LIMIT ?)'
  const [looked, found] = read.get(first, ordinal, sampleRows) as [number, number]
  if (looked < sampleRows) return found
  const sample = 'SELECT count(*) FROM activity WHERE address < ? AND chain = ?'
  return 256 * ((read.get(sample, sampleEnd, ordinal) as Row)[0] as number)
}
