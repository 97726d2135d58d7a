// Rows of activity as versions before packed transactions stored them, and what they must still say after the step to packed ones.
import { expect } from 'vitest'
import type { Address, ChainId, Hash } from '../src/model.ts'
import type { Store } from '../src/store/store.ts'

export const oldWallet = `0x${'f7'.repeat(20)}` as Address

/** Two chains, one with a first and a last transaction and the same address in a hot block, one with a single one. */
export function unpackedActivitySql(bytes: (hex: string) => string): string {
  const columns = 'first_block, first_tx, first_timestamp, first_hash, last_block, last_tx, last_timestamp, last_hash'
  const [wallet, one, two] = [oldWallet.slice(2), '1a'.repeat(32), '2b'.repeat(32)].map(bytes)
  const first = `7, 0, 1700000000, ${one}`
  return `
    INSERT INTO chains (ordinal, id, finalized) VALUES (1, 1, 2147483000), (2, 137, 7);
    INSERT INTO activity (address, chain, ${columns}) VALUES (${wallet}, 1, ${first}, 2147483000, 1048575, 8589934591, ${two});
    INSERT INTO activity (address, chain, ${columns}) VALUES (${wallet}, 2, ${first}, ${first});
    INSERT INTO hot_activity (address, chain, block, ${columns}) VALUES (${wallet}, 2, 9, 9, 1, 5, ${two}, 9, 3, 5, ${one});`
}

export async function expectUnpackedActivity(store: Store): Promise<void> {
  const one = `0x${'1a'.repeat(32)}` as Hash
  const two = `0x${'2b'.repeat(32)}` as Hash
  const first = { block: 7, transactionIndex: 0, hash: one, timestamp: 1_700_000_000 }
  const last = { block: 2_147_483_000, transactionIndex: 1_048_575, hash: two, timestamp: 8_589_934_591 }
  expect(await store.activityOf(oldWallet)).toEqual(
    new Map([
      [1 as ChainId, { address: oldWallet, first, last }],
      [137 as ChainId, { address: oldWallet, first, last: { block: 9, transactionIndex: 3, hash: one, timestamp: 5 } }],
    ]),
  )
  await store.finalize(137 as ChainId, 9)
  expect((await store.activityOf(oldWallet)).get(137 as ChainId)).toMatchObject({ first, last: { block: 9 } })
}
