// Tracks who owns what of a sandbox's collections, and draws the next transactions. It asks no node and signs nothing.
import type { Address } from 'ox/Address'
import type { Draws } from './draws.ts'
import type { Account } from './evm-accounts.ts'
import type { Deployed, Transaction } from './evm-transactions.ts'

export type Kind = 'ERC721' | 'ERC721A' | 'ERC1155' | 'airdrop'

export type Collection = { kind: Kind; name: string; contract: Deployed }

/**
 * Owners by token, or balances by token and then by owner. Accounts are indexes, which makes copies for a fork cheap.
 */
export type Ownership = { nextId: number; owners: Map<number, number>; balances: Map<number, Map<number, number>> }

export type Wallets = readonly Account[]

type Turn = { collection: Collection; held: Ownership; wallets: Wallets; draws: Draws }

const ether = 10n ** 18n
const editionIds = 12
/** So many of the first tokens of a collection are never burned: examples ask for them. */
export const keptTokens = 10

/** A transaction that will succeed; the ownership already has its changes. */
export function nextTransaction(turn: Turn): Transaction {
  const { kind } = turn.collection
  if (kind === 'airdrop') return airdrop(turn)
  return kind === 'ERC1155' ? editionTransaction(turn) : tokenTransaction(turn)
}

function tokenTransaction({ collection, held, wallets, draws }: Turn): Transaction {
  const { kind, contract } = collection
  if (held.owners.size < 5 || draws.chance(30)) {
    const to = draws.below(wallets.length)
    const quantity = kind === 'ERC721A' ? draws.between(1, 4) : 1
    const from = wallets[to]!
    const value = BigInt(draws.between(1, 40)) * (ether / 100n)
    const argument = kind === 'ERC721A' ? quantity : held.nextId
    for (let count = 0; count < quantity; count++) held.owners.set(held.nextId++, to)
    return { from, value, ...contract.call('mint', from.address, BigInt(argument)) }
  }
  const [id, owner] = draws.oneOf([...held.owners])
  const from = wallets[owner]!
  if (draws.chance(6) && id >= keptTokens) {
    held.owners.delete(id)
    return { from, ...contract.call('burn', BigInt(id)) }
  }
  const to = otherThan(owner, wallets, draws)
  held.owners.set(id, to)
  return { from, ...contract.call('transferFrom', from.address, wallets[to]!.address, BigInt(id)) }
}

function editionTransaction({ collection: { contract }, held, wallets, draws }: Turn): Transaction {
  const holders = [...held.balances].flatMap(([id, balances]) =>
    [...balances].map(([owner, amount]) => ({ id, owner, amount })),
  )
  if (holders.length < 6 || draws.chance(25)) {
    const to = draws.below(wallets.length)
    const from = wallets[to]!
    const ids = distinctIds(draws)
    const amounts = ids.map(() => draws.between(1, 50))
    for (const [at, id] of ids.entries()) give(held, { id, to, amount: amounts[at]! })
    if (ids.length === 1) return { from, ...contract.call('mint', from.address, BigInt(ids[0]!), BigInt(amounts[0]!)) }
    return { from, ...contract.call('mintBatch', from.address, ids.map(BigInt), amounts.map(BigInt)) }
  }
  const { owner } = draws.oneOf(holders)
  const own = holders.filter(holder => holder.owner === owner).slice(0, draws.between(1, 4))
  const from = wallets[owner]!
  const to = otherThan(owner, wallets, draws)
  const moved = own.map(({ id, amount }) => ({ id, amount: draws.between(1, amount) }))
  for (const { id, amount } of moved) {
    give(held, { id, to: owner, amount: -amount })
    give(held, { id, to, amount })
  }
  const target = wallets[to]!.address
  if (moved.length === 1) {
    const [{ id, amount }] = moved as [{ id: number; amount: number }]
    return { from, ...contract.call('safeTransferFrom', from.address, target, BigInt(id), BigInt(amount), '0x') }
  }
  const ids = moved.map(({ id }) => BigInt(id))
  const amounts = moved.map(({ amount }) => BigInt(amount))
  return { from, ...contract.call('safeBatchTransferFrom', from.address, target, ids, amounts, '0x') }
}

/** Unrequested tokens for a random wallet. */
function airdrop({ collection: { contract }, held, wallets, draws }: Turn): Transaction {
  const from = wallets[0]!
  const to = draws.oneOf(wallets).address
  return { from, ...contract.call('mint', to, BigInt(held.nextId++), 1n) }
}

function distinctIds(draws: Draws): number[] {
  const first = draws.between(1, editionIds)
  return Array.from({ length: draws.between(1, 4) }, (_, index) => ((first + index) % editionIds) + 1)
}

function give({ balances }: Ownership, { id, to, amount }: { id: number; to: number; amount: number }): void {
  const ofId = balances.get(id) ?? new Map<number, number>()
  const left = (ofId.get(to) ?? 0) + amount
  if (left === 0) ofId.delete(to)
  else ofId.set(to, left)
  balances.set(id, ofId)
}

function otherThan(owner: number, wallets: Wallets, draws: Draws): number {
  return (owner + draws.between(1, wallets.length - 1)) % wallets.length
}

export function payment(wallets: Wallets, to: Address, draws: Draws): Transaction {
  return { from: draws.oneOf(wallets), to, value: BigInt(draws.between(1, 900)) * (ether / 1_000n) }
}
