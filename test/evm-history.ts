// A short history for a real node: every way in which the usual contracts move tokens, in transactions of every type, and events that are no
// proper transfers. Final and unfinal blocks are the caller's to choose.
import { getSelector } from 'ox/AbiEvent'
import * as AbiParameters from 'ox/AbiParameters'
import { fromNumber, type Hex, padLeft } from 'ox/Hex'
import type { CompiledContract } from '../sandbox/src/compile-contracts.ts'
import { accounts } from './evm-accounts.ts'
import { type ContractName, loadContracts } from './evm-contracts.ts'
import type { EvmNode } from './evm-node.ts'
import { type Deployed, deployment, signed, type Transaction } from './evm-transactions.ts'

export type History = Record<'seven' | 'many' | 'run' | 'coin' | 'anything' | 'owners', Deployed>

export const alice = accounts.alice.address
export const bob = accounts.bob.address
export const carol = accounts.carol.address
export const dave = accounts.dave.address
export const erin = accounts.erin.address
export const frank = accounts.frank.address
export const largest = 2n ** 256n - 1n
/** How many tokens `run` mints by one ERC-2309 event. */
export const rangeLength = 250

let compiling: Promise<Record<ContractName, CompiledContract>> | undefined

/** Eight blocks above the genesis. */
export async function playHistory(node: EvmNode): Promise<History> {
  compiling ??= loadContracts()
  const compiled = await compiling
  const seven = deployment(compiled.Collection721, { from: 'alice', nonce: 0, args: ['Seven', 'SVN'] })
  const many = deployment(compiled.Collection1155, { from: 'alice', nonce: 1, args: ['Many'] })
  const runArguments = ['Run', 'RUN', bob, BigInt(rangeLength)]
  const run = deployment(compiled.Collection721A, { from: 'alice', nonce: 2, args: runArguments })
  const coin = deployment(compiled.Coin, { from: 'alice', nonce: 3, args: ['Coin', 'CN', alice] })
  const anything = deployment(compiled.Anything, { from: 'alice', nonce: 4 })
  const owners = deployment(compiled.Owners, { from: 'alice', nonce: 5 })
  await mine(
    node,
    [seven, many, run, coin, anything, owners].map(({ transaction }) => transaction),
  )
  const history = {
    seven: seven.contract,
    many: many.contract,
    run: run.contract,
    coin: coin.contract,
    anything: anything.contract,
    owners: owners.contract,
  }
  for (const block of blocksOf(history)) await mine(node, block)
  return history
}

export async function mine(node: EvmNode, transactions: readonly Transaction[] = []): Promise<void> {
  await node.mine(await signed(node, transactions))
}

function blocksOf({ seven, many, run, coin, anything }: History): Transaction[][] {
  return [
    [
      { from: 'alice', type: 0, value: 12_345n, ...seven.call('mint', alice, 1n) },
      { from: 'alice', type: 1, value: 10n ** 18n, ...seven.call('mint', alice, largest) },
      { from: 'bob', type: 2, ...seven.call('mint', bob, 2n) },
      { from: 'alice', type: 2, value: 7n, ...many.call('mint', alice, 7n, 100n) },
      { from: 'bob', type: 0, ...many.call('mintBatch', alice, [1n, 2n, largest, 2n], [10n, 2n ** 200n, 1n, 0n]) },
    ],
    [
      { from: 'alice', ...seven.call('setApprovalForAll', carol, true) },
      { from: 'alice', ...many.call('setApprovalForAll', carol, true) },
      { from: 'carol', ...seven.call('safeTransferFrom', alice, bob, 1n) },
      { from: 'bob', ...seven.call('transferFrom', bob, carol, 2n) },
      { from: 'carol', ...many.call('safeTransferFrom', alice, bob, 7n, 40n, '0x') },
      { from: 'carol', ...many.call('safeBatchTransferFrom', alice, bob, [1n, largest], [3n, 1n], '0x') },
      { from: 'alice', ...many.call('safeTransferFrom', alice, alice, 7n, 0n, '0x') },
    ],
    [
      { from: 'bob', ...seven.call('burn', 1n) },
      { from: 'bob', ...many.call('burn', bob, 7n, 40n) },
      { from: 'carol', ...many.call('burnBatch', alice, [1n, 2n], [7n, 2n ** 199n]) },
      // Fails: nobody has it. A receipt of a failed transaction is in the root as well.
      { from: 'bob', ...seven.call('burn', 99n) },
    ],
    [
      { from: 'bob', value: 50n, ...run.call('mint', carol, 5n) },
      { from: 'bob', ...run.call('transferFrom', bob, frank, 17n) },
      { from: 'carol', ...run.call('burn', BigInt(rangeLength)) },
      { from: 'alice', ...coin.call('transfer', dave, 5_000n) },
    ],
    [
      { from: 'alice', to: erin, value: 10n ** 18n },
      {
        ...{ from: 'bob', type: 4, authorise: { account: 'carol', contract: anything.address } },
        ...{ to: carol, data: anything.call('say', [{ topics: [], data: '0x1234' }]).data },
      },
    ],
    [
      { from: 'erin', to: alice, value: 1n },
      { from: 'carol', value: 3n, ...anything.call('say', oddEvents) },
      { from: 'erin', type: 1, to: bob, value: 2n },
    ],
    [],
  ]
}

const word = (value: Hex | bigint): Hex =>
  typeof value === 'bigint' ? fromNumber(value, { size: 32 }) : padLeft(value, 32)
const words = (...values: (Hex | bigint)[]): Hex => `0x${values.map(value => word(value).slice(2)).join('')}`
const transfer = getSelector('event Transfer(address,address,uint256)')
const single = getSelector('event TransferSingle(address,address,address,uint256,uint256)')
const batch = getSelector('event TransferBatch(address,address,address,uint256[],uint256[])')
const consecutive = getSelector('event ConsecutiveTransfer(uint256,uint256,address,address)')
const arrays = (ids: bigint[], values: bigint[]): Hex =>
  AbiParameters.encode([{ type: 'uint256[]' }, { type: 'uint256[]' }], [ids, values])

export const operator = padLeft('0x0a', 20)
export const giver = padLeft('0x0b', 20)
export const taker = padLeft('0x0c', 20)
const parties = [word(operator), word(giver), word(taker)]

/** One that no standard knows. */
export const malformedEvents = [{ topics: [transfer, word(giver)], data: '0x' }]

const oddEvents = [
  { topics: [], data: '0x' },
  // The way of CryptoKitties: nothing is indexed.
  { topics: [transfer], data: words(giver, taker, 9n) },
  { topics: [transfer], data: words(giver, taker) },
  { topics: [transfer, word(giver)], data: words(taker, 9n) },
  // ERC-20 by its three topics.
  { topics: [transfer, word(giver), word(taker)], data: words(9n) },
  // More data than there need be.
  { topics: [transfer, word(giver), word(taker), word(largest)], data: words(1n, 2n, 3n) },
  { topics: [single, ...parties], data: words(5n) },
  { topics: [single, ...parties], data: words(5n, largest) },
  { topics: [batch, ...parties], data: arrays([1n, 2n], [1n]) },
  { topics: [batch, ...parties], data: words(64n, 96n, 200_000n, 200_000n) },
  { topics: [batch, ...parties], data: arrays([], []) },
  { topics: [batch, ...parties], data: arrays([4n, 4n], [0n, 6n]) },
  { topics: [consecutive, word(8n), word(giver), word(taker)], data: words(7n) },
  { topics: [consecutive, word(30n), word(giver), word(taker)], data: words(32n) },
]
