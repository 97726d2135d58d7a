// What is asked for a run of whole blocks, and where each part of the answer stands. Pure, and used on both sides of a thread.
import type { Interval } from '../../model.ts'
import { quantityHex } from '../hex.ts'
import type { RpcCall } from '../rpc/port.ts'
import type { RpcBlock, RpcHeader, RpcLog, RpcReceipt } from '../rpc/types.ts'
import type { ActivityGrain } from './chain-source.ts'
import type { FullAnswers } from './digest.ts'

export type FullRequest = { interval: Interval; grain: ActivityGrain; withReceipts: boolean }

export function callsOf({ interval: { from, to }, grain, withReceipts }: FullRequest): RpcCall[] {
  const calls: RpcCall[] = []
  for (let number = from; number <= to; number++) {
    calls.push({ method: 'eth_getBlockByNumber', params: [quantityHex(number), true] })
  }
  if (grain === 'range') calls.push({ method: 'eth_getBlockByNumber', params: [quantityHex(to + 1), false] })
  if (!withReceipts)
    calls.push({ method: 'eth_getLogs', params: [{ fromBlock: quantityHex(from), toBlock: quantityHex(to) }] })
  else
    for (let number = from; number <= to; number++)
      calls.push({ method: 'eth_getBlockReceipts', params: [quantityHex(number)] })
  return calls
}

export function callCount({ interval: { from, to }, grain, withReceipts }: FullRequest): number {
  const blocks = to - from + 1
  return blocks + (grain === 'range' ? 1 : 0) + (withReceipts ? blocks : 1)
}

/** `values` in the order of the calls. */
export function answersOf(values: readonly unknown[], { interval, grain, withReceipts }: FullRequest): FullAnswers {
  const count = interval.to - interval.from + 1
  const blocks = values.slice(0, count) as (RpcBlock | null)[]
  const rest = grain === 'range' ? count + 1 : count
  const next = grain === 'range' ? { next: values[count] as RpcHeader | null } : {}
  if (!withReceipts) return { blocks, ...next, logs: values[rest] as RpcLog[] | null }
  return { blocks, ...next, receipts: values.slice(rest) as (RpcReceipt[] | null)[] }
}
