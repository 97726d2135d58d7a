// Tracks who holds how much of a chain's ERC-20 token, and draws its transfers. It asks no node and signs nothing.
import type { Draws } from './draws.ts'
import type { Wallets } from './evm-collections.ts'
import type { Deployed, Transaction } from './evm-transactions.ts'

/** No token of a real chain has them, so nobody takes a balance of the sandbox for money. */
export const coinNames = { name: 'Sandbox Pennies', symbol: 'SBPENNY' }

/** By wallet, in hundredths of a coin: exact in numbers, and amounts that are easy to read. */
export type CoinBalances = readonly number[]

/** What the contract mints to the first wallet. */
const supply = 1_000_000_00
const unitsPerHundredth = 10n ** 16n
/** What the third wallet may take from the second; nobody takes it, so that it can be asked for. */
const allowance = 500_00

type Turn = { contract: Deployed; balances: CoinBalances; wallets: Wallets; draws: Draws }
type Outcome = { transactions: Transaction[]; balances: CoinBalances }

/** Gives every wallet a part of the supply, and lets one spend of another's. */
export function coinBeginning({ contract, wallets, draws }: Omit<Turn, 'balances'>): Outcome {
  const amounts = wallets.map((_, at) => (at === 0 ? 0 : draws.between(1_000_00, 50_000_00)))
  const given = amounts.reduce((sum, amount) => sum + amount, 0)
  const transactions = amounts.flatMap((amount, to) =>
    to === 0 ? [] : [transfer({ contract, wallets, from: 0, to, amount })],
  )
  const approval = contract.call('approve', wallets[2]!.address, unitsOf(allowance))
  return {
    transactions: [...transactions, { from: wallets[1]!, ...approval }],
    balances: amounts.map((amount, at) => (at === 0 ? supply - given : amount)),
  }
}

/** A transfer that will succeed, of a tenth at most, so that no wallet runs dry. */
export function nextCoinTransfer({ contract, balances, wallets, draws }: Turn): Outcome {
  const from = draws.below(wallets.length)
  const to = (from + draws.between(1, wallets.length - 1)) % wallets.length
  const amount = draws.between(1, Math.ceil(balances[from]! / 10))
  const after = balances.with(from, balances[from]! - amount)
  return {
    transactions: [transfer({ contract, wallets, from, to, amount })],
    balances: after.with(to, after[to]! + amount),
  }
}

type Move = Pick<Turn, 'contract' | 'wallets'> & { from: number; to: number; amount: number }

function transfer({ contract, wallets, from, to, amount }: Move): Transaction {
  return { from: wallets[from]!, ...contract.call('transfer', wallets[to]!.address, unitsOf(amount)) }
}

function unitsOf(hundredths: number): bigint {
  return BigInt(hundredths) * unitsPerHundredth
}
