// Who created a contract and in which block, from the transaction that may have done it. What is found is certain: the address follows from
// the sender and its nonce. A contract that another contract created has no such transaction, and nothing is said of it.
import type { Address } from '../../model.ts'
import { parseAddress } from '../../model.ts'
import { createdContractDigits } from '../decode/created-contract.ts'
import { quantityHex } from '../hex.ts'
import type { RpcCall } from '../rpc/port.ts'
import type { RpcBlock, RpcTransaction } from '../rpc/types.ts'
import type { ContractPort } from './contract-reader.ts'

export type Creation = { deployer: Address; createdBlock: number }

/** Where to look: a transaction, or a whole block. */
export type CreationHint = { block: number; transactionHash?: string }

export async function creationOf(
  contract: Address,
  hint: CreationHint,
  { rpc, budget, signal }: ContractPort,
): Promise<Creation | undefined> {
  const call: RpcCall =
    hint.transactionHash === undefined
      ? { method: 'eth_getBlockByNumber', params: [quantityHex(hint.block), true] }
      : { method: 'eth_getTransactionByHash', params: [hint.transactionHash] }
  await budget.take(1, signal)
  const { values } = await rpc.ask([call], { signal, idle: true })
  const answer = values[0]
  const candidates = hint.transactionHash === undefined ? ((answer as RpcBlock | null)?.transactions ?? []) : [answer]
  for (const candidate of candidates as readonly (RpcTransaction | null)[]) {
    if (typeof candidate !== 'object' || candidate === null || typeof candidate.to === 'string') continue
    const deployer = parseAddress(String(candidate.from))
    if (deployer !== undefined && `0x${createdContractDigits(candidate)}` === contract)
      return { deployer, createdBlock: hint.block }
  }
  return undefined
}
