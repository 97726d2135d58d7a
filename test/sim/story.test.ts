// Stories and the node in its own process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { SimChain } from './chain.ts'
import { type Move, makeMove, makeStory } from './story.ts'

const told = (seed: number): { chain: SimChain; moves: Move[]; heads: string[] } => {
  const chain = new SimChain({ seed: 2, height: 100, finalityDepth: 30, hashes: 'real' })
  const story = makeStory({ seed, depthMax: 12 })
  const moves = Array.from({ length: 60 }, () => story.next().value)
  const heads = moves.map(move => {
    makeMove(chain, move)
    return chain.hashOf(chain.head)
  })
  return { chain, moves, heads }
}

test('one seed tells one story, another another', () => {
  const [first, again, other] = [told(7), told(7), told(8)]
  expect(again.heads).toEqual(first.heads)
  expect(other.heads).not.toEqual(first.heads)
  expect(new Set(first.moves.map(({ move }) => move))).toEqual(new Set(['mine', 'reorg', 'revert']))
})

test('whatever is told, the chain stays linked and each nonce comes once', () => {
  const { chain } = told(9)
  expect(chain.branches.length).toBeGreaterThan(8)
  const nonces = new Map<string, number>()
  for (let number = 1; number <= chain.head; number++) {
    const block = chain.block(number)
    expect(block.header.parentHash).toBe(chain.hashOf(number - 1))
    for (const { from, nonce } of block.transactions) {
      expect(nonce).toBe(nonces.get(from) ?? 0)
      nonces.set(from, nonce + 1)
    }
  }
})

test('runs in its own process and obeys its remote control', async () => {
  const main = new URL('./main.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [main, '--height', '120', '--control', '--warm', 'logs'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    const { urls, head } = JSON.parse(line) as { urls: string[]; head: number }
    expect(head).toBe(120)
    const ask = async (method: string, ...params: unknown[]): Promise<Record<string, unknown>> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      return (await (await fetch(urls[0]!, { method: 'POST', body })).json()) as Record<string, unknown>
    }
    expect(await ask('sim_mine', 5)).toMatchObject({ result: { head: 125 } })
    expect(await ask('sim_reorg', { depth: 3, length: 4 })).toMatchObject({ result: { head: 126 } })
    expect(await ask('sim_reorg', { depth: 3_000, length: 4 })).toHaveProperty('error')
    expect(await ask('eth_blockNumber')).toMatchObject({ result: '0x7e' })
    await ask('sim_faults', 0, [{ kind: 'method-missing', methods: ['eth_blockNumber'] }])
    expect(await ask('eth_blockNumber')).toMatchObject({ error: { code: -32601 } })
  } finally {
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number | null]
    expect(code).toBe(0)
  }
})
