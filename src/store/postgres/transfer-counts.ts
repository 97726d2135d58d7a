// The counts that are kept of cold transfers: for each contract as a whole and for each bucket of blocks. An ERC-2309 range is
// one stored row and as many transfers as it has ids. Callers hold the transaction.
import { payloadFlags } from '../transfer-payload.ts'
import { int4Array, int8Array } from './arrays.ts'
import type { Row, Transaction } from './database.ts'
import { wholeBucket } from './migrations.ts'

/** By how much a bucket changes. */
export type CountChange = { contract: number; bucket: number; stored: number; transfers: number }

/** How many transfers a row stands for, in SQL: the last four bytes of the payload where it is a range. */
export const weightSql = `CASE WHEN get_byte(payload, 0) & ${payloadFlags.range} = 0 THEN 1
  ELSE ('x' || encode(substring(payload FROM octet_length(payload) - 3), 'hex'))::bit(32)::int8 END`

/** Counts of what a writing statement returned under the name `changed`. */
export const changesSql = `SELECT contract, bucket, count(*), sum(weight) FROM changed GROUP BY contract, bucket`

export function changeOf([contract, bucket, stored, transfers]: Row): CountChange {
  return {
    contract: Number(contract),
    bucket: Number(bucket),
    stored: Number(stored),
    transfers: Number(transfers),
  }
}

/** Rows are taken in one order by every process, so that two that count for one contract wait and do not deadlock. */
export async function addToCounts(
  transaction: Transaction,
  changes: readonly CountChange[],
  sign: 1 | -1 = 1,
): Promise<void> {
  if (changes.length === 0) return
  const wholes = new Map<number, CountChange>()
  for (const { contract, stored, transfers } of changes) {
    const whole = wholes.get(contract) ?? { contract, bucket: wholeBucket, stored: 0, transfers: 0 }
    wholes.set(contract, { ...whole, stored: whole.stored + stored, transfers: whole.transfers + transfers })
  }
  const all = [...changes, ...wholes.values()].sort((a, b) => a.contract - b.contract || a.bucket - b.bucket)
  await transaction.run(
    `INSERT INTO transfer_counts (contract, bucket, stored, transfers)
     SELECT contract, bucket, $5 * stored, $5 * transfers
     FROM unnest($1::int4[], $2::int4[], $3::int8[], $4::int8[]) AS given (contract, bucket, stored, transfers)
     ON CONFLICT (contract, bucket) DO UPDATE SET stored = transfer_counts.stored + excluded.stored,
       transfers = transfer_counts.transfers + excluded.transfers`,
    int4Array(all.map(change => change.contract)),
    int4Array(all.map(change => change.bucket)),
    int8Array(all.map(change => change.stored)),
    int8Array(all.map(change => change.transfers)),
    sign,
  )
  if (sign === -1)
    await transaction.run(
      'DELETE FROM transfer_counts WHERE contract = ANY($1::int4[]) AND stored = 0',
      int4Array([...wholes.keys()]),
    )
}
