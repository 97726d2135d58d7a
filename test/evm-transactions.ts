// The transactions of the tests on real nodes, whose senders are names.
import type { Address } from 'ox/Address'
import type { Hex } from 'ox/Hex'
import type { CompiledContract } from '../sandbox/src/compile-contracts.ts'
import * as sandbox from '../sandbox/src/evm-transactions.ts'
import { type AccountName, accounts } from './evm-accounts.ts'
import type { EvmNode } from './evm-node.ts'

export type Transaction = Omit<sandbox.Transaction, 'from' | 'authorise'> & {
  from: AccountName
  authorise?: { account: AccountName; contract: Address }
}

export type Deployed = sandbox.Deployed

/** In their order, each behind those of the same sender; `after` is the block that they follow, the newest unless told. */
export async function signed(node: EvmNode, transactions: readonly Transaction[], after?: number): Promise<Hex[]> {
  const resolved = transactions.map(({ from, authorise, ...rest }) => ({
    ...rest,
    from: accounts[from],
    ...(authorise === undefined ? {} : { authorise: { ...authorise, account: accounts[authorise.account] } }),
  }))
  return await sandbox.signed(node, resolved, after)
}

export function deployment(
  compiled: CompiledContract,
  { from, ...rest }: { from: AccountName; nonce: number; args?: unknown[] },
): { transaction: Transaction; contract: Deployed } {
  const { data, contract } = sandbox.deployment(compiled, { from: accounts[from], ...rest })
  return { transaction: { from, data }, contract }
}
