// Trades of the tokens that `evm-history.ts` makes, so that many wallets hold several of each contract: batches with
// repeated ids, transfers to oneself, burns, and ids of a range that leave it and come back.
import { fromNumber } from 'ox/Hex'
import { alice, bob, carol, dave, erin, frank, type History } from './evm-history.ts'
import type { Transaction } from './evm-transactions.ts'

/** The ERC-1155 token with the most holders. */
export const sharedId = 5n
/** Wallets that hold one token each. */
const crowd = Array.from({ length: 8 }, (_, at) => fromNumber(0xabc0n + BigInt(at), { size: 20 }))

export const tradingWallets = [alice, bob, carol, dave, erin, frank, ...crowd].map(wallet => wallet.toLowerCase())

/** Three blocks that follow the history. Carol's account has code, so that ERC-1155 tokens cannot be sent to it. */
export function tradesOf({ seven, many, run }: History): [Transaction[], Transaction[], Transaction[]] {
  const minters = [alice, bob, erin]
  const mints = Array.from({ length: 12 }, (_, at): Transaction => {
    const id = 10 + at
    return { from: 'alice', ...seven.call('mint', minters[id % 3], BigInt(id)) }
  })
  const shares = crowd.map(
    (wallet, at): Transaction => ({ from: 'bob', ...many.call('mint', wallet, sharedId, BigInt(at + 1)) }),
  )
  return [
    [
      ...mints,
      { from: 'alice', ...many.call('mintBatch', alice, [5n, 5n, 6n, 8n, 9n, 5n], [1n, 2n, 3n, 4n, 5n, 6n]) },
      { from: 'bob', ...many.call('mintBatch', erin, [5n, 6n, 6n], [4n, 1n, 2n]) },
      ...shares,
    ],
    [
      { from: 'alice', ...seven.call('transferFrom', alice, dave, 12n) },
      { from: 'alice', ...seven.call('transferFrom', alice, alice, 15n) },
      { from: 'bob', ...seven.call('burn', 10n) },
      { from: 'bob', ...seven.call('transferFrom', bob, frank, 13n) },
      { from: 'alice', ...many.call('safeBatchTransferFrom', alice, bob, [5n, 5n, 8n], [2n, 3n, 4n], '0x') },
      { from: 'erin', ...many.call('safeTransferFrom', erin, dave, 6n, 3n, '0x') },
      { from: 'alice', ...many.call('safeTransferFrom', alice, alice, 6n, 1n, '0x') },
      ...[3n, 5n].map((id): Transaction => ({ from: 'bob', ...run.call('transferFrom', bob, alice, id) })),
      { from: 'bob', ...run.call('transferFrom', bob, erin, 100n) },
      { from: 'bob', ...run.call('burn', 249n) },
    ],
    [
      { from: 'alice', ...run.call('transferFrom', alice, dave, 3n) },
      { from: 'erin', ...run.call('transferFrom', erin, bob, 100n) },
      { from: 'bob', ...many.call('burnBatch', bob, [5n, 5n], [1n, 1n]) },
      { from: 'erin', ...many.call('safeTransferFrom', erin, erin, 5n, 4n, '0x') },
    ],
  ]
}
