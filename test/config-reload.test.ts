// The node under a running indexer is exchanged: the service takes the new one without a restart, and nothing is missing.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { blockCount } from '../src/coverage.ts'
import type { Address, ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { CommandPlace } from './command-run.ts'
import { storedTransfers, truthByContract } from './evm-harness.ts'
import { startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'

const patience = { timeout: 60_000, interval: 50 }
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

test('endpoints change with a reload, and a configuration that is wrong changes nothing', {
  timeout: 120_000,
}, async () => {
  const first = await startSimNode({ chain: { chainId: 31_337, height: 120, hashes: 'real', ...lightBlocks } })
  const second = await startSimNode({ chain: first.chain })
  cleanups.push(() => second.close())
  const place = new CommandPlace()
  cleanups.push(() => place.dispose())
  const sim = { id: 31_337, rpc: first.url, index: 'full', backfill: { blocks_per_second: 20 } }
  place.configure({ sim })
  const service = place.begin(['start', '--listen', '127.0.0.1:0', '--ops-open', '--log-format', 'json'])
  const url = await service.listening()
  const status = async () => {
    const { chains } = (await (await fetch(`${url}/status`)).json()) as { chains: Record<string, { rpc: object[] }> }
    return chains.sim!
  }
  const isFilling = async () =>
    expect(blockCount(((await status()) as never as { covered: [] }).covered)).toBeGreaterThan(60)
  await vi.waitFor(isFilling, patience)

  // In the middle of history: the signal, then the end of the node that was there before.
  place.configure({ sim: { ...sim, rpc: second.url, backfill: {} } })
  service.child.kill('SIGHUP')
  await service.until(() => service.stderr.includes('"msg":"Configuration reloaded"'), 'the reload')
  expect(service.stderr).toContain('"applied":["chains.sim.rpc","chains.sim.backfill.blocks_per_second"]')
  await first.close()
  second.mine(3)
  await vi.waitFor(
    async () => expect(await status()).toMatchObject({ state: 'live', complete: true, head: 123 }),
    patience,
  )
  expect((await status()).rpc).toMatchObject([{ endpoint: new URL(second.url).host, healthy: true }])
  expect((await status()).rpc).toHaveLength(1)
  const store = await openStore(place.storeUrl, { role: 'tool' })
  cleanups.push(() => store.close())
  expect(blockCount(await store.coverage(31_337 as ChainId, 'full'))).toBe(124)
  const [contract, rows] = [...truthByContract(second.chain, { from: 0, to: 123 })].sort(
    (a, b) => b[1].length - a[1].length,
  )[0]!
  expect(await storedTransfers(store, second.chain, contract as Address)).toEqual(rows)

  // By command: what cannot change while it runs is named, and a wrong file is refused by its line.
  place.configure({ sim: { ...sim, rpc: second.url, requests_per_second: 500, backfill: {} } }, undefined, {
    page_size_max: 9,
  })
  const reloaded = await place.runHere(['config', 'reload', '--json'])
  expect(JSON.parse(reloaded.stdout)).toEqual({
    processes: 1,
    applied: ['chains.sim.requests_per_second'],
    need_restart: ['limits.page_size_max'],
  })
  writeFileSync(
    join(place.directory, 'almanac.yaml'),
    `chains:\n  sim: { id: 31337, rpc: ${first.url} }\n  nowhere: {}\n`,
  )
  service.child.kill('SIGHUP')
  await service.until(
    () => service.stderr.includes('"msg":"Configuration not reloaded; nothing changed"'),
    'the refusal',
  )
  expect(service.stderr).toMatch(/"reason":"[^"]*almanac\.yaml:3:/)
  second.mine(1)
  await vi.waitFor(async () => expect(await status()).toMatchObject({ state: 'live', head: 124 }), patience)
})
