// Signs transactions for a local EVM node. Nonces come from the node.
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  numberToHex,
} from 'viem'
import type { HDAccount } from 'viem/accounts'
import type { CompiledContract } from './compile-contracts.ts'
import type { EvmNode } from './evm-node.ts'

export type Transaction = {
  from: HDAccount
  to?: Address
  data?: Hex
  value?: bigint
  /** By its number on the wire; 2 unless told. */
  type?: 0 | 1 | 2 | 4
  /** Type 4: whose account is to run the code of which contract. */
  authorise?: { account: HDAccount; contract: Address }
}

type AskedNode = Pick<EvmNode, 'ask' | 'chainId'>

/** In their order, each behind those of the same sender; `after` is the block that they follow, the newest unless told. */
export async function signed(node: AskedNode, transactions: readonly Transaction[], after?: number): Promise<Hex[]> {
  const at = after === undefined ? 'latest' : numberToHex(after)
  const nonces = new Map<Address, number>()
  const nextNonce = async ({ address }: HDAccount): Promise<number> => {
    const known = nonces.get(address) ?? Number(await node.ask('eth_getTransactionCount', address, at))
    nonces.set(address, known + 1)
    return known
  }
  const raw: Hex[] = []
  for (const transaction of transactions) raw.push(await sign(transaction, node.chainId, nextNonce))
  return raw
}

async function sign(
  { from, to, data = '0x', value = 0n, type = 2, authorise }: Transaction,
  chainId: number,
  nextNonce: (account: HDAccount) => Promise<number>,
): Promise<Hex> {
  const nonce = await nextNonce(from)
  const common = { chainId, nonce, gas: 6_000_000n, data, value, ...(to === undefined ? {} : { to }) }
  const fees = { maxFeePerGas: 20n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n }
  const gasPrice = 20n * 10n ** 9n
  if (type === 0) return await from.signTransaction({ ...common, type: 'legacy', gasPrice })
  if (type === 1) {
    const accessList = to === undefined ? [] : [{ address: to, storageKeys: [`0x${'00'.repeat(32)}` as Hex] }]
    return await from.signTransaction({ ...common, type: 'eip2930', gasPrice, accessList })
  }
  if (authorise === undefined) return await from.signTransaction({ ...common, type: 'eip1559', ...fees })
  const authorization = await authorise.account.signAuthorization!({
    chainId,
    contractAddress: authorise.contract,
    nonce: await nextNonce(authorise.account),
  })
  return await from.signTransaction({ ...common, type: 'eip7702', ...fees, authorizationList: [authorization] })
}

export type Deployed = { address: Address; call(functionName: string, ...args: unknown[]): { to: Address; data: Hex } }

/** What creates a contract, and the contract as it will be: its address follows from sender and nonce. */
export function deployment(
  { abi, bytecode }: CompiledContract,
  { from, nonce, args = [] }: { from: HDAccount; nonce: number; args?: unknown[] },
): { data: Hex; contract: Deployed } {
  const address = getContractAddress({ from: from.address, nonce: BigInt(nonce) })
  return {
    data: encodeDeployData({ abi, bytecode, args }),
    contract: { address: address.toLowerCase() as Address, call: callsOf(address, abi) },
  }
}

function callsOf(address: Address, abi: Abi): Deployed['call'] {
  return (functionName, ...args) => ({ to: address, data: encodeFunctionData({ abi, functionName, args }) })
}
