// The floor of indexing: fetching the bytes that a job needs and JSON.parse of them, in one process with no store.
import { Pool } from 'undici'
import { transferTopics } from '../src/evm/decode/token-events.ts'

export type Floor = { seconds: number; cpuSeconds: number; bytes: number }
export type FloorJob = { url: string; head: number; contract?: string | undefined; receipts: boolean }

/** What full mode needs: every block with its transactions, and its receipts (or, without roots, its logs). */
export async function fullFloor(url: string, { head, receipts }: { head: number; receipts: boolean }): Promise<Floor> {
  const size = 20
  const requests: string[] = []
  for (let from = 0; from <= head; from += size) {
    const calls = []
    const to = Math.min(head, from + size - 1)
    for (let number = from; number <= to; number++) {
      calls.push(call(calls.length, 'eth_getBlockByNumber', [quantity(number), true]))
      if (receipts) calls.push(call(calls.length, 'eth_getBlockReceipts', [quantity(number)]))
    }
    if (!receipts) calls.push(call(calls.length, 'eth_getLogs', [{ fromBlock: quantity(from), toBlock: quantity(to) }]))
    requests.push(JSON.stringify(calls))
  }
  return await fetchAndParse(url, requests)
}

/** What a contract needs: its logs, and the blocks that hold them for value and time. */
export async function contractFloor(
  url: string,
  { head, contract }: { head: number; contract: string },
): Promise<Floor> {
  const size = 1_000
  const logRequests: string[] = []
  for (let from = 0; from <= head; from += size) {
    const filter = {
      fromBlock: quantity(from),
      toBlock: quantity(Math.min(head, from + size - 1)),
      address: contract,
      topics: [transferTopics],
    }
    logRequests.push(JSON.stringify([call(0, 'eth_getLogs', [filter])]))
  }
  const numbers = new Set<string>()
  const elapsed = startClock()
  const logs = await fetchAndParse(url, logRequests, answers => {
    for (const { result } of answers as { result: { blockNumber: string }[] }[])
      for (const log of result) numbers.add(log.blockNumber)
  })
  const blockRequests: string[] = []
  const list = [...numbers]
  for (let at = 0; at < list.length; at += 100) {
    const calls = list.slice(at, at + 100).map((number, id) => call(id, 'eth_getBlockByNumber', [number, true]))
    blockRequests.push(JSON.stringify(calls))
  }
  const blocks = await fetchAndParse(url, blockRequests)
  return { ...elapsed(), bytes: logs.bytes + blocks.bytes }
}

export async function fetchAndParse(
  url: string,
  requests: readonly string[],
  read?: (answers: unknown) => void,
): Promise<Floor> {
  const elapsed = startClock()
  const waiting = [...requests]
  const { origin, pathname: path } = new URL(url)
  const pool = new Pool(origin, { connections: 4 })
  const headers = { 'content-type': 'application/json' }
  let bytes = 0
  const next = async (): Promise<void> => {
    for (let body = waiting.shift(); body !== undefined; body = waiting.shift()) {
      const answer = await pool.request({ path, method: 'POST', body, headers })
      const text = await answer.body.text()
      bytes += text.length
      const answers: unknown = JSON.parse(text)
      read?.(answers)
    }
  }
  await Promise.all([next(), next(), next(), next()])
  const taken = elapsed()
  await pool.close()
  return { ...taken, bytes }
}

export function call(id: number, method: string, params: unknown[]) {
  return { jsonrpc: '2.0', id, method, params }
}

export function quantity(value: number): string {
  return `0x${Math.max(0, value).toString(16)}`
}

function startClock(): () => { seconds: number; cpuSeconds: number } {
  const started = performance.now()
  const cpuAtStart = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(cpuAtStart)
    return { seconds: (performance.now() - started) / 1_000, cpuSeconds: (user + system) / 1e6 }
  }
}
