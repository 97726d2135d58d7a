// Signs transactions for a local EVM node. Nonces come from the node.
import type { Abi } from 'ox/Abi'
import * as AbiConstructor from 'ox/AbiConstructor'
import * as AbiFunction from 'ox/AbiFunction'
import type { Address } from 'ox/Address'
import * as Authorization from 'ox/Authorization'
import * as ContractAddress from 'ox/ContractAddress'
import type { Hex } from 'ox/Hex'
import * as Secp256k1 from 'ox/Secp256k1'
import type { Signature } from 'ox/Signature'
import * as Eip1559 from 'ox/TxEnvelopeEip1559'
import * as Eip2930 from 'ox/TxEnvelopeEip2930'
import * as Eip7702 from 'ox/TxEnvelopeEip7702'
import * as Legacy from 'ox/TxEnvelopeLegacy'
import type { CompiledContract } from './compile-contracts.ts'
import type { Account } from './evm-accounts.ts'
import type { EvmNode } from './evm-node.ts'

export type Transaction = {
  from: Account
  to?: Address
  data?: Hex
  value?: bigint
  /** By its number on the wire; 2 by default. */
  type?: 0 | 1 | 2 | 4
  /** Type 4: whose account runs the code of which contract. */
  authorise?: { account: Account; contract: Address }
}

type AskedNode = Pick<EvmNode, 'ask' | 'chainId'>

/** In the order given; the nonces of one sender count up from the block `after`, the newest by default. */
export async function signed(node: AskedNode, transactions: readonly Transaction[], after?: number): Promise<Hex[]> {
  const at = after === undefined ? 'latest' : `0x${after.toString(16)}`
  const nonces = new Map<Address, number>()
  const nextNonce = async ({ address }: Account): Promise<bigint> => {
    const known = nonces.get(address) ?? Number(await node.ask('eth_getTransactionCount', address, at))
    nonces.set(address, known + 1)
    return BigInt(known)
  }
  const raw: Hex[] = []
  for (const transaction of transactions) raw.push(await sign(transaction, node.chainId, nextNonce))
  return raw
}

async function sign(
  { from, to, data = '0x', value = 0n, type = 2, authorise }: Transaction,
  chainId: number,
  nextNonce: (account: Account) => Promise<bigint>,
): Promise<Hex> {
  const nonce = await nextNonce(from)
  const common = { chainId, nonce, gas: 6_000_000n, data, value, ...(to === undefined ? {} : { to }) }
  const fees = { maxFeePerGas: 20n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n }
  const gasPrice = 20n * 10n ** 9n
  if (type === 0) return seal(Legacy, Legacy.from({ ...common, gasPrice }), from)
  if (type === 1) {
    const accessList = to === undefined ? [] : [{ address: to, storageKeys: [`0x${'00'.repeat(32)}` as Hex] }]
    return seal(Eip2930, Eip2930.from({ ...common, gasPrice, accessList }), from)
  }
  if (authorise === undefined) return seal(Eip1559, Eip1559.from({ ...common, ...fees }), from)
  const { account, contract: address } = authorise
  const authorization = Authorization.from({ chainId, address, nonce: await nextNonce(account) })
  const signature = signatureOf(Authorization.getSignPayload(authorization), account)
  const authorizationList = [Authorization.from(authorization, { signature })]
  return seal(Eip7702, Eip7702.from({ ...common, ...fees, authorizationList }), from)
}

type Sealing<Envelope> = {
  getSignPayload(envelope: Envelope): Hex
  serialize(envelope: Envelope, options: { signature: Signature }): Hex
}

function seal<Envelope>(kind: Sealing<Envelope>, envelope: Envelope, from: Account): Hex {
  return kind.serialize(envelope, { signature: signatureOf(kind.getSignPayload(envelope), from) })
}

function signatureOf(payload: Hex, { privateKey }: Account): Signature {
  return Secp256k1.sign({ payload, privateKey })
}

export type Deployed = { address: Address; call(functionName: string, ...args: unknown[]): { to: Address; data: Hex } }

/** What creates a contract, and the contract as it will be: its address follows from sender and nonce. */
export function deployment(
  { abi, bytecode }: CompiledContract,
  { from, nonce, args = [] }: { from: Account; nonce: number; args?: unknown[] },
): { data: Hex; contract: Deployed } {
  const address = ContractAddress.fromCreate({ from: from.address, nonce: BigInt(nonce) })
  const data = args.length === 0 ? bytecode : AbiConstructor.encode(AbiConstructor.fromAbi(abi), { bytecode, args })
  return { data, contract: { address: address.toLowerCase() as Address, call: callsOf(address, abi) } }
}

function callsOf(address: Address, abi: Abi): Deployed['call'] {
  return (name, ...args) => {
    const called = AbiFunction.fromAbi(abi, name as never, { args } as never) as AbiFunction.AbiFunction
    return { to: address, data: AbiFunction.encodeData(called, args as never) }
  }
}
