// Opens a configured chain for one command: its nodes, and its lease in the store. It also asks nodes for one
// transaction.

import type { Chain } from '../chains.ts'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import { transactionDeriver } from '../evm/audit/derive-transaction.ts'
import { type ConnectedChain, connectChain } from '../evm/create-evm.ts'
import { leaseChain, leaseHolder } from '../evm/index/leased-indexer.ts'
import { paidBy } from '../evm/rpc/port.ts'
import { codelessAmong } from '../evm/source/deployment.ts'
import { ledgerId, ledgerNames } from '../ledgers.ts'
import type { Address } from '../model.ts'
import type { AskTransaction } from '../query/explain.ts'
import { allRequests, BudgetKeeper } from '../rpc/daily-budget.ts'
import { finishForgetting } from '../store/forget.ts'
import { openStore } from '../store/open.ts'
import { StoreRoom } from '../store/room.ts'
import type { Store } from '../store/store.ts'
import { openUnlocked } from './open-store.ts'
import type { ChosenChain } from './options.ts'
import { whileWaiting } from './terminal.ts'

/** Connects to the nodes of a chain; `onBytes` hears of every answer. */
export function connectNodes(
  { chains }: Pick<LoadedConfig, 'chains'>,
  { name, settings }: ChosenChain,
  opened: AsyncDisposableStack,
  onBytes: (bytes: number) => void = () => {},
): ConnectedChain {
  if (settings.rpc.length === 0)
    throw new AlmanacError('config_invalid', `${name} has no node, and this command asks one.`, {
      hint: `set chains.${name}.rpc; what files or a portal give is filled by almanac start.`,
    })
  const observer = { request: ({ bytes }: { bytes: number }) => onBytes(bytes), hedge: () => {} }
  const connected = connectChain(name, settings, { chains, observer })
  opened.defer(() => connected.rpc.close())
  return connected
}

/** What the command asks for counts as what a service on the same store asks for. */
export function shareBudget({ budget }: ConnectedChain, store: Store, opened: AsyncDisposableStack): void {
  if (budget === undefined) return
  const keeper = new BudgetKeeper(budget, store)
  opened.defer(() => keeper.close())
}

const leaseMs = 10_000

export type TakeOptions = {
  url: string
  chain: Pick<Chain, 'id' | 'name'>
  opened: AsyncDisposableStack
  mustExist: boolean
}

/**
 * For a command that writes: opens the store as its owner and takes the lease of the chain. `opened` returns both. What
 * was being forgotten of the chain is gone then.
 */
export async function takeChain(options: TakeOptions): Promise<Store> {
  const store = await takeChainAsItIs(options)
  for (const ledger of ledgerNames) await finishForgetting(store, ledgerId(options.chain.id, ledger))
  return store
}

export async function takeChainAsItIs({ url, chain, opened, mustExist }: TakeOptions): Promise<Store> {
  const opening = openUnlocked(() => openStore(url, { role: 'owner', mustExist }), 'stop it first.')
  const store = await whileWaiting('Waiting for the store', opening)
  opened.defer(() => store.close())
  // A file has one owner, which need not wait for the lease of a process that was killed.
  const holder = store.engine === 'sqlite' ? 'owner' : leaseHolder()
  const held = await leaseChain(store, { chain: chain.id, holder, leaseMs })
  if (held === undefined)
    throw new AlmanacError('store_locked', `Another process indexes ${chain.name} into this store.`, {
      retryable: true,
      hint: 'wait for it or stop it; the lease of a killed process ends after ten seconds.',
    })
  opened.defer(held.release)
  return held.store
}

/** For a command that stores rows: commits are refused while the store is full. */
export async function guardRoom(
  store: Store,
  { config }: LoadedConfig,
  opened: AsyncDisposableStack,
): Promise<{ store: Store; room: StoreRoom }> {
  const room = await new StoreRoom({ store, bytesMax: config.limits.storeBytesMax }).start()
  opened.defer(() => room.close())
  return { store: room.guarded(store), room }
}

const codeWaitMs = 10_000

/** Whether a node says that an address has no code. */
export async function isCodeless(
  loaded: LoadedConfig,
  { name, address }: { name: string; address: Address },
  opened: AsyncDisposableStack,
): Promise<boolean> {
  const settings = loaded.config.chains[name]
  if (settings === undefined || settings.rpc.length === 0) return false
  const { rpc } = connectNodes(loaded, { name, settings }, opened)
  const codeless = await codelessAmong([address], paidBy(rpc, allRequests), AbortSignal.timeout(codeWaitMs))
  return codeless.length > 0
}

/** For explanations. The first question connects. */
export function transactionAsker(loaded: LoadedConfig, opened: AsyncDisposableStack): AskTransaction {
  const connected = new Map<string, ConnectedChain>()
  return async ({ chain: name, contract, hash }, signal) => {
    const settings = loaded.config.chains[name]
    if (settings === undefined || settings.rpc.length === 0) return 'not asked'
    const known = connected.get(name) ?? connectNodes(loaded, { name, settings }, opened)
    connected.set(name, known)
    const { chain, rpc } = known
    return await transactionDeriver(chain, paidBy(rpc, allRequests))(contract, hash, signal)
  }
}
