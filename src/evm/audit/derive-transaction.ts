// Shows a transaction as a node has it, and what the decoder makes of its logs of one contract or of all, to explain
// why a transfer is or is not in the index. It reads no store.
import type { Chain } from '../../chains.ts'
import { quantityOf } from '../../hex.ts'
import { type Address, etherLogs, type Hash, parseAddress } from '../../model.ts'
import type { NodeLog, NodeTransaction } from '../../node-transaction.ts'
import { decodeTransfers, type MalformedReason, malformedReasons } from '../decode/decode.ts'
import { sequenceLogs } from '../decode/log-sequence.ts'
import { earlyCollectionsOf, transferTopic } from '../decode/token-events.ts'
import type { RpcLog, RpcPort, RpcReceipt, RpcTransaction } from '../rpc/port.ts'

/** More than a block has room for is a node's invention. */
const emittersMax = 10_000

/** Undefined if the node does not know the transaction, or it is not in a block yet. */
export type DeriveTransaction = (
  contract: Address | undefined,
  hash: Hash,
  signal: AbortSignal,
) => Promise<NodeTransaction | undefined>

export function transactionDeriver(chain: Chain, rpc: Pick<RpcPort, 'ask' | 'status'>): DeriveTransaction {
  return async (contract, hash, signal) => {
    const calls = ['eth_getTransactionReceipt', 'eth_getTransactionByHash'].map(method => ({ method, params: [hash] }))
    const { values, endpoint } = await rpc.ask(calls, { signal })
    const [receipt, transaction] = values as [RpcReceipt | null, RpcTransaction | null]
    const block = quantityOf(receipt?.blockNumber, Number.MAX_SAFE_INTEGER)
    const transactionIndex = quantityOf(receipt?.transactionIndex, Number.MAX_SAFE_INTEGER)
    if (receipt === null || block === -1 || transactionIndex === -1) return undefined
    const all = Array.isArray(receipt.logs) ? receipt.logs : []
    const own = contract === undefined ? all : all.filter(log => parseAddress(`${log.address}`) === contract)
    const decode = (logs: readonly RpcLog[]) =>
      decodeTransfers({
        logs: sequenceLogs(logs, { complete: false }),
        earlyCollections: earlyCollectionsOf(chain.id),
        transactionOf: () => ({ value: transaction?.value ?? '0x0' }),
      })
    const { rows } = decode(own)
    const logs = own.map((log): NodeLog => {
      const logIndex = quantityOf(log.logIndex, Number.MAX_SAFE_INTEGER)
      const transfers = rows.filter(row => row.logIndex === logIndex).length
      return { logIndex, transfers, reason: transfers > 0 ? undefined : reasonOf(log, decode([log]).malformed) }
    })
    const succeeded = receipt.status === undefined || quantityOf(receipt.status, 1) === 1
    const { receipts } = rpc.status().find(status => status.endpoint === endpoint) ?? {}
    return {
      ...(receipts === undefined ? {} : { receipts }),
      ...{ endpoint, block, transactionIndex, succeeded, logs, otherLogs: all.length - own.length },
      ...{ from: parseAddress(`${transaction?.from}`), to: parseAddress(`${transaction?.to}`) },
      value: isQuantity(transaction?.value) ? BigInt(transaction.value).toString() : '0',
      ...costOf({ ...transaction, ...receipt }),
      created: parseAddress(`${receipt.contractAddress}`),
      emitters: [...new Set(all.flatMap(log => parseAddress(`${log.address}`) ?? []))].slice(0, emittersMax),
    }
  }
}

type Costs = { gasUsed?: unknown; effectiveGasPrice?: unknown; gasPrice?: unknown; nonce?: unknown; input?: unknown }

/** Of the transaction and its receipt together. */
function costOf({ gasUsed, effectiveGasPrice, gasPrice, nonce, input }: Costs) {
  const price = effectiveGasPrice ?? gasPrice
  const known = (text: unknown) => (isQuantity(text) ? Number(text) : undefined)
  return {
    ...{ gasUsed: known(gasUsed), nonce: known(nonce) },
    fee: isQuantity(gasUsed) && isQuantity(price) ? `${BigInt(gasUsed) * BigInt(price)}` : undefined,
    method: /^0x[0-9a-f]{8}/i.exec(`${input}`)?.[0].toLowerCase(),
  }
}

function isQuantity(text: unknown): text is string {
  return typeof text === 'string' && /^0x[0-9a-f]{1,64}$/i.test(text)
}

function reasonOf(
  log: RpcLog,
  malformed: Record<MalformedReason, number>,
): 'another event' | 'ether' | MalformedReason {
  const reason = malformedReasons.find(one => malformed[one] > 0)
  if (reason !== undefined) return reason
  if (parseAddress(`${log.address}`) === etherLogs) return 'ether'
  // A Transfer of ERC-20 has the same first topic and two indexed fields.
  return transferTopic(log.topics?.[0]) === undefined ? 'another event' : 'topics'
}
