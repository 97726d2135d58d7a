// Asks the configured nodes of a chain for one transaction, for explanations. Connections are made with the first question.
import type { LoadedConfig } from '../config/load.ts'
import { transactionDeriver } from '../evm/audit/derive-transaction.ts'
import type { AskedTransaction } from '../evm/create-evm.ts'
import { type ConnectedChain, connectChain } from '../evm/create-evm.ts'
import type { NodeAnswer } from '../query/explain.ts'

export type AskTransaction = (asked: AskedTransaction, signal: AbortSignal) => Promise<NodeAnswer>

export function transactionAsker({ config, chains }: LoadedConfig, opened: AsyncDisposableStack): AskTransaction {
  const connected = new Map<string, ConnectedChain>()
  return async ({ chain: name, contract, hash }, signal) => {
    const settings = config.chains[name]
    if (settings === undefined || settings.rpc.length === 0) return 'not asked'
    let known = connected.get(name)
    if (known === undefined) {
      const observer = { request: () => {}, hedge: () => {} }
      known = connectChain(name, settings, { chains, observer })
      const { rpc } = known
      opened.defer(() => rpc.close())
      connected.set(name, known)
    }
    return await transactionDeriver(known.chain, known.rpc)(contract, hash, signal)
  }
}
