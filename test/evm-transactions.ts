// Signs the transactions of the tests on real nodes. Each test account is a name; nonces come from the node.
import { type Address, encodeDeployData, encodeFunctionData, getContractAddress, type Hex, numberToHex } from 'viem'
import { type AccountName, accounts } from './evm-accounts.ts'
import type { CompiledContract } from './evm-contracts.ts'
import type { EvmNode } from './evm-node.ts'

export type Transaction = {
  from: AccountName
  to?: Address
  data?: Hex
  value?: bigint
  /** By its number on the wire; 2 unless told. */
  type?: 0 | 1 | 2 | 4
  /** Type 4: whose account is to run the code of which contract. */
  authorise?: { account: AccountName; contract: Address }
}

/** In their order, each behind those of the same sender; `after` is the block that they follow, the newest unless told. */
export async function signed(node: EvmNode, transactions: readonly Transaction[], after?: number): Promise<Hex[]> {
  const at = after === undefined ? 'latest' : numberToHex(after)
  const nonces = new Map<AccountName, number>()
  const nextNonce = async (name: AccountName): Promise<number> => {
    const known = nonces.get(name) ?? Number(await node.ask('eth_getTransactionCount', accounts[name].address, at))
    nonces.set(name, known + 1)
    return known
  }
  const raw: Hex[] = []
  for (const transaction of transactions) raw.push(await sign(transaction, nextNonce))
  return raw
}

async function sign(
  { from, to, data = '0x', value = 0n, type = 2, authorise }: Transaction,
  nextNonce: (name: AccountName) => Promise<number>,
): Promise<Hex> {
  const nonce = await nextNonce(from)
  const common = { chainId: 1, nonce, gas: 6_000_000n, data, value, ...(to === undefined ? {} : { to }) }
  const fees = { maxFeePerGas: 20n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n }
  const gasPrice = 20n * 10n ** 9n
  const signer = accounts[from]
  if (type === 0) return await signer.signTransaction({ ...common, type: 'legacy', gasPrice })
  if (type === 1) {
    const accessList = to === undefined ? [] : [{ address: to, storageKeys: [`0x${'00'.repeat(32)}` as Hex] }]
    return await signer.signTransaction({ ...common, type: 'eip2930', gasPrice, accessList })
  }
  if (authorise === undefined) return await signer.signTransaction({ ...common, type: 'eip1559', ...fees })
  const authorization = await accounts[authorise.account].signAuthorization!({
    chainId: 1,
    contractAddress: authorise.contract,
    nonce: await nextNonce(authorise.account),
  })
  return await signer.signTransaction({ ...common, type: 'eip7702', ...fees, authorizationList: [authorization] })
}

export type Deployed = { address: Address; call(functionName: string, ...args: unknown[]): { to: Address; data: Hex } }

/** The transaction that creates a contract, and the contract as it will be: its address follows from sender and nonce. */
export function deployment(
  { abi, bytecode }: CompiledContract,
  { from, nonce, args = [] }: { from: AccountName; nonce: number; args?: unknown[] },
): { transaction: Transaction; contract: Deployed } {
  const address = getContractAddress({ from: accounts[from].address, nonce: BigInt(nonce) })
  const call: Deployed['call'] = (functionName, ...given) => ({
    to: address,
    data: encodeFunctionData({ abi, functionName, args: given }),
  })
  return {
    transaction: { from, data: encodeDeployData({ abi, bytecode, args }) },
    contract: { address: address.toLowerCase() as Address, call },
  }
}
