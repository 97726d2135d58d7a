// An endpoint with two faces: whatever touches a block up to `below` it answers from another chain, whole and consistent
// with itself, and the rest from the chain that it is asked for. It forwards to two simulated nodes.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SimNode } from './node.ts'

type Call = { method: string; params: readonly unknown[] }

export type OtherHistory = {
  url: string
  /** The highest block of the other chain; -1: none. It may be changed at any time. */
  below: number
  /** The block above `below` names the other chain's block as its parent, in a header of a form that nobody knows. */
  bridged: boolean
  /** Requests that were answered from the other chain. */
  lies: number
  close(): Promise<void>
}

export async function startOtherHistory(
  own: SimNode,
  other: SimNode,
  below: number,
  { delayMs = 0 }: { delayMs?: number } = {},
): Promise<OtherHistory> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part as Buffer))
    request.on('end', async () => {
      const body = Buffer.concat(parts)
      const calls = [JSON.parse(body.toString()) as Call | Call[]].flat()
      const isLie = calls.some(call => lowestBlock(call) <= node.below)
      if (isLie) node.lies++
      const { url } = (isLie ? other : own).endpoints[0]!
      try {
        if (delayMs > 0) await new Promise(resolve => setTimeout(resolve, delayMs))
        // Whole: to pack and unpack what stays on this machine takes longer than to make it.
        const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' }
        const answer = await fetch(url, { method: 'POST', body, headers })
        response.writeHead(answer.status, { 'content-type': 'application/json' })
        response.end(node.bridged ? bridge(await answer.text()) : Buffer.from(await answer.arrayBuffer()))
      } catch {
        response.destroy()
      }
    })
  })
  const bridge = (body: string): string => {
    const answers = JSON.parse(body) as { result?: { number?: string } | null }[] | { result?: null }
    for (const answer of [answers].flat()) {
      if (Number(answer.result?.number ?? -1) !== node.below + 1) continue
      answer.result = Object.assign(answer.result!, { parentHash: other.chain.hashOf(node.below), x: '0x0' })
    }
    return JSON.stringify(answers)
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const node: OtherHistory = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    below,
    bridged: false,
    lies: 0,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return node
}

/** Infinity for a call that names no block by its number. */
function lowestBlock({ method, params }: Call): number {
  const named = method === 'eth_getLogs' ? (params[0] as { fromBlock?: unknown }).fromBlock : params[0]
  const isByNumber = ['eth_getBlockByNumber', 'eth_getBlockReceipts', 'eth_getLogs'].includes(method)
  return isByNumber && /^0x[0-9a-f]{1,13}$/.test(String(named)) ? Number(named) : Number.POSITIVE_INFINITY
}
