// Settles which of two endpoints told the truth about the logs of some blocks: by receipts that hash to the root in
// headers on which both agree. Neither the longer nor the shorter list is right by itself.
import type { Chain } from '../../chains.ts'
import { quantityHex } from '../../hex.ts'
import type { Address } from '../../model.ts'
import { type LogSequence, sequenceLogs } from '../decode/log-sequence.ts'
import { transferTopics } from '../decode/token-events.ts'
import { checkHeaders, verifyReceipts } from '../proof/verify.ts'
import type { RpcBlock, RpcLog, RpcPort, RpcReceipt } from '../rpc/port.ts'

export type Told = { endpoint: string; logs: LogSequence }

/** More would cost more than asking for the range again. */
const blocksMax = 8

/** The endpoints that were proven wrong, and whether every difference is settled by a proof. */
export async function settleLogs(
  { chain, rpc, contracts, told }: { chain: Chain; rpc: RpcPort; contracts: readonly Address[]; told: [Told, Told] },
  signal: AbortSignal,
): Promise<{ wrong: ReadonlySet<string>; settled: boolean }> {
  const texts = told.map(({ logs }) => textByBlock(logs.logs.slice(0, logs.length) as RpcLog[]))
  const blocks = [...new Set(texts.flatMap(byBlock => [...byBlock.keys()]))].filter(
    block => texts[0]?.get(block) !== texts[1]?.get(block),
  )
  const asked = new Set<string>(contracts)
  const wrong = new Set<string>()
  let proven = 0
  for (const block of blocks.slice(0, blocksMax)) {
    const endpoints = told.map(({ endpoint }) => endpoint)
    const logs = await provenLogs({ chain, rpc, endpoints, block }, signal).catch(() => undefined)
    if (logs === undefined) continue
    proven++
    const ours = logs.filter(
      ({ address, topics }) => asked.has(address.toLowerCase()) && transferTopics.includes(topics[0] as never),
    )
    const truth = textByBlock(ours).get(block)
    for (const [at, { endpoint }] of told.entries()) if (texts[at]?.get(block) !== truth) wrong.add(endpoint)
  }
  return { wrong, settled: blocks.length > 0 && proven === blocks.length }
}

function textByBlock(logs: readonly RpcLog[]): Map<number, string> {
  const byBlock = Map.groupBy(logs, log => Number(log.blockNumber))
  const textOf = ({ blockHash, transactionHash, logIndex, data, topics }: RpcLog) =>
    [blockHash, transactionHash, Number(logIndex), data, ...topics].join()
  return new Map([...byBlock].map(([block, own]) => [block, own.map(textOf).join(' ')]))
}

async function provenLogs(
  { chain, rpc, endpoints, block }: { chain: Chain; rpc: RpcPort; endpoints: readonly string[]; block: number },
  signal: AbortSignal,
): Promise<readonly RpcLog[] | undefined> {
  const ask = async (endpoint: string, method: string, ...params: unknown[]): Promise<unknown> =>
    (await rpc.ask([{ method, params }], { signal, endpoint })).values[0]
  const number = quantityHex(block)
  const headers = await Promise.all(
    endpoints.map(async endpoint => (await ask(endpoint, 'eth_getBlockByNumber', number, true)) as RpcBlock),
  )
  const failed = headers.some(
    header => checkHeaders({ chain, from: block, to: block, headers: [header] }) !== undefined,
  )
  const roots = new Set(headers.map(header => `${header?.hash} ${header?.receiptsRoot}`))
  if (failed || roots.size !== 1) return undefined
  for (const [at, endpoint] of endpoints.entries()) {
    const receipts = (await ask(endpoint, 'eth_getBlockReceipts', number).catch(() => undefined)) as RpcReceipt[]
    if (!Array.isArray(receipts)) continue
    const given = receipts.flatMap(receipt => receipt.logs)
    const logs = sequenceLogs(given, { complete: true })
    const checked = verifyReceipts({ chain, block: headers[at] as RpcBlock, receipts, logs })
    if (checked.ok && checked.evidence === 'receipts-root') return given
  }
  return undefined
}
