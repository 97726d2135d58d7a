// Reads filtered logs and headers from the bytes of an endpoint's answers, and refuses what was not asked for. Pure, so
// that any thread can do it; it asks for nothing.
import type { Chain } from '../../chains.ts'
import { messageOf } from '../../errors.ts'
import { quantityOf } from '../../hex.ts'
import type { Address, Interval } from '../../model.ts'
import { readAnswers, UnreadableAnswer } from '../../rpc/answers.ts'
import { type LogSequence, sequenceLogs } from '../decode/log-sequence.ts'
import { topicsOf, transferTopic } from '../decode/token-events.ts'
import { checkHeaders } from '../proof/verify.ts'
import type { RpcHeader, RpcLog, RpcQuantity } from '../rpc/port.ts'
import { type Header, headerOf } from './chain-source.ts'

export type LogsTask = {
  chain: Chain
  contracts: readonly Address[]
  interval: Interval
  /** Consecutive blocks whose headers were asked for first. */
  headersOf: readonly number[]
  /** How many asked for headers and logs. */
  calls: number
  /** As they came, without a JSON-RPC error in them. */
  bodies: readonly Uint8Array[]
}

export type ReadLogs = {
  logs: LogSequence
  headers: Header[]
  /** Every header hashes to its block hash. */
  headersProven: boolean
  /** The times of blocks that the logs tell, as newer nodes do. */
  timestamps: Map<number, number>
}

/** What was found, or the reason why the answers cannot be right. */
export function readLogs(task: LogsTask): ReadLogs | string {
  try {
    const answers = readAnswers(task.bodies, task.calls)
    return 'refusal' in answers ? `it answered: ${answers.refusal.text}` : read(answers.values, task)
  } catch (error) {
    // If an answer makes this code throw, the endpoint that gave it is at fault.
    return `it answered ${error instanceof UnreadableAnswer ? '' : 'what cannot be read: '}${messageOf(error)}`
  }
}

function read(values: readonly unknown[], { chain, contracts, interval, headersOf }: LogsTask): ReadLogs | string {
  const { from, to } = interval
  const headers = values.slice(0, headersOf.length) as RpcHeader[]
  let headersProven = true
  const ends = { from: headersOf[0] ?? to, to: headersOf.at(-1) ?? to }
  const onDoubt = (): void => {
    headersProven = false
  }
  const failed = checkHeaders({ chain, ...ends, headers, onDoubt })
  if (failed !== undefined) return failed.message
  const hashes = new Map(headers.map(header => [Number(header.number), header.hash]))
  const lists = values.slice(headersOf.length)
  if (!lists.every(Array.isArray)) return `eth_getLogs for blocks ${from} to ${to} did not answer a list`
  const logs = sequenceLogs(lists.flat().map(known), { complete: false })
  const timestamps = new Map<number, number>()
  const asked = new Set<string>(contracts)
  const firstTopics = topicsOf(chain.id)
  for (let at = 0; at < logs.length; at++) {
    const log = logs.logs[at] as TimedLog
    const block = logs.blocks[at]!
    if (block < from || block > to) return `eth_getLogs for blocks ${from} to ${to} answered a log of block ${block}`
    if (!hashForm.test(log.blockHash!) || !hashForm.test(log.transactionHash!))
      return `a log of block ${block} came without a readable block hash or transaction hash`
    const hash = hashes.get(block)
    if (hash !== undefined && hash !== log.blockHash)
      return `a log of block ${block} belongs to block hash ${log.blockHash}, the header's is ${hash}`
    if (!asked.has(log.address.toLowerCase()) || !firstTopics.includes(transferTopic(log.topics[0]) ?? ''))
      return `eth_getLogs answered a log of ${log.address} with topic ${log.topics[0]}, which was not asked for`
    const timestamp = quantityOf(log.blockTimestamp, 2 ** 40)
    if (timestamp >= 0 && !timestamps.has(block)) timestamps.set(block, timestamp)
  }
  return { logs, headers: headers.map(headerOf), headersProven, timestamps }
}

/** Other questions name these hashes, and their answers are found by them. */
const hashForm = /^0x[0-9a-f]{64}$/

type TimedLog = RpcLog & { blockTimestamp?: RpcQuantity }

/** Nothing else of a log crosses to another thread. */
function known(log: TimedLog): TimedLog {
  const { address, topics, data, blockNumber, blockHash, transactionHash, transactionIndex, logIndex } = log
  const texts = [address, data, blockHash ?? '', transactionHash ?? '', ...topics]
  if (!texts.every(text => typeof text === 'string')) throw new UnreadableAnswer('a log whose fields are not texts')
  const place = { blockNumber, blockHash, transactionHash, transactionIndex, logIndex }
  const { removed, blockTimestamp } = log
  return {
    ...{ address, topics, data, ...place },
    ...(removed === undefined ? {} : { removed }),
    ...(blockTimestamp === undefined ? {} : { blockTimestamp }),
  }
}
