// The indexing thread hangs: operators hear of it in time, the thread is ended and started again, and nothing is lost.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { Indexer } from '../src/cli/service/index-thread.ts'
import { createLog } from '../src/log.ts'
import type { ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { simulatedChain } from './evm-harness.ts'
import type { HangingData } from './hanging-index-thread.ts'
import { serveApi } from './served-api.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'
import { standStill } from './trial-thread.ts'

const chainId = 31_337 as ChainId
const module = new URL('hanging-index-thread.ts', import.meta.url)
const logged: string[] = []
const log = createLog({ level: 'info', format: 'json', write: line => logged.push(line) })

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

/** A chain of its own in a store of its own. */
async function world({
  height,
  again,
}: {
  height: number
  again: boolean
}): Promise<{ node: SimNode; data: HangingData }> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-index-thread-'))
  cleanups.push(() => rmSync(folder, { recursive: true }))
  const node = await startSimNode({ chain: { chainId, height, hashes: 'real', ...lightBlocks } })
  cleanups.push(() => node.close())
  const data: HangingData = {
    store: `file:${join(folder, 'almanac.db')}`,
    settings: { sim: { rpc: [node.url], index: 'full', from: 0, contracts: [] } },
    addedChains: [simulatedChain(node)],
    pageSizeMax: 100,
    log: { level: 'silent', format: 'json', colours: false },
    diary: join(folder, 'diary'),
    hangs: { file: join(folder, 'hang'), again },
  }
  return { node, data }
}

test('a thread that hangs in a backfill is started again, and the chain is complete', {
  timeout: 120_000,
}, async () => {
  const { node, data } = await world({ height: 300, again: false })
  // So slow that history is under way when the thread hangs, however fast the machine is.
  node.endpoints[0]!.faults = [{ kind: 'latency', delayMs: 400 }]
  const indexer = await Indexer.start({ module, data, log, silentMsMax: 6_000 })
  cleanups.push(() => indexer.close())
  const status = async () => ({ ...(await indexer.status()), solana: {} })
  await vi.waitFor(async () => expect((await status()).chains.sim?.head).toBe(300), 60_000)
  const served = await serveApi({
    settings: { lagMaxSeconds: 1e9 },
    parts: { status, threadMetrics: () => indexer.metrics() },
  })
  cleanups.push(() => served.close())

  const timed = async (path: string) => {
    const startedMs = performance.now()
    const answer = await served.get(path)
    const text = await answer.text()
    // One that waited for the thread would take the six seconds of its silence.
    expect(performance.now() - startedMs).toBeLessThan(5_500)
    return { status: answer.status, text }
  }
  writeFileSync(data.hangs.file, '')
  await delay(500)
  // What has to be asked of it fails once it is ended, for now.
  const asked = indexer.balances({ chain: chainId, block: 1, wallets: [] }, 30_000)
  const refused = expect(asked).rejects.toMatchObject({ code: 'timeout', retryable: true })
  const silent = await vi.waitFor(async () => {
    const [ready, report] = await Promise.all([timed('/ready'), timed('/status'), timed('/metrics')])
    expect(ready.text).toContain('"indexer_silent"')
    return { ready, report }
  }, 20_000)
  // What is stored is served.
  expect(silent.ready.status).toBe(200)
  expect(JSON.parse(silent.report.text)).toMatchObject({
    indexer: { answers: false },
    chains: {
      sim: {
        state: 'stalled',
        reason: expect.stringContaining('The indexer does not answer'),
        head: 300,
        complete: false,
      },
    },
  })

  await refused
  node.endpoints[0]!.faults = []
  await vi.waitFor(async () => expect(await status()).toMatchObject({ chains: { sim: { complete: true } } }), 60_000)
  expect((await status()).indexer).toEqual({ answers: true, restarts: 1, last_restart: 'no answer within 6 s' })
  await vi.waitFor(async () => expect((await timed('/ready')).text).not.toContain('"indexer_silent"'), 60_000)
  expect(logged.join('')).toContain('"msg":"Thread ended; starting it again"')
  expect(readFileSync(data.diary, 'utf8')).toBe('started\nstarted\n')
  const store = await openStore(data.store, { role: 'reader' })
  cleanups.push(() => store.close())
  expect((await store.chainState(chainId))?.head.number).toBe(300)
})

test('a thread that is busy for some seconds alarms nobody', {
  timeout: 120_000,
}, async () => {
  const { data } = await world({ height: 20, again: false })
  const indexer = await Indexer.start({ module, data, log })
  cleanups.push(() => indexer.close())
  const live = () =>
    vi.waitFor(async () => expect((await indexer.status()).chains.sim?.state).toBe('live'), { timeout: 60_000 })
  /** What is told while the thread does nothing else for so long. */
  const statesWhile = async (ms: number): Promise<string[]> => {
    await live()
    writeFileSync(data.hangs.file, `${ms}`)
    const told: string[] = []
    for (const endMs = performance.now() + ms; performance.now() < endMs; await delay(50)) {
      const { chains, indexer: thread } = await indexer.status()
      told.push(`${chains.sim?.state}, ${thread.answers ? 'answers' : 'silent'}`)
    }
    return [...new Set(told)]
  }
  expect(await statesWhile(3_000)).toEqual(['live, answers'])
  // The thread that asks stood still itself, and finds its own timer before the answer.
  await live()
  const asked = indexer.status()
  standStill(2_500)
  expect(await asked).toMatchObject({ chains: { sim: { state: 'live' } }, indexer: { answers: true, restarts: 0 } })
})

test('a status that never comes is a silent indexer, though the thread lives, and no longer once it comes', {
  timeout: 60_000,
}, async () => {
  const { data } = await world({ height: 20, again: true })
  const indexer = await Indexer.start({ module, data, log, silentMsMax: 4_000 })
  cleanups.push(() => indexer.close())
  const told = async () => {
    const { chains, indexer: thread } = await indexer.status()
    return [chains.sim?.state === 'stalled', thread.answers, thread.restarts]
  }
  await vi.waitFor(async () => expect(await told()).toEqual([false, true, 0]), { timeout: 20_000 })
  // At once: a file that is empty for a moment means another thing.
  writeFileSync(`${data.hangs.file}.new`, 'status')
  renameSync(`${data.hangs.file}.new`, data.hangs.file)
  // However old the last one is when the next is asked for.
  await delay(4_500)
  expect(await told()).toEqual([false, true, 0])
  await vi.waitFor(async () => expect(await told()).toEqual([true, false, 0]), { timeout: 10_000 })
  expect((await indexer.status()).chains.sim).toMatchObject({ reason: 'The indexer does not answer.' })
  rmSync(data.hangs.file)
  await vi.waitFor(async () => expect(await told()).toEqual([false, true, 0]), { timeout: 10_000 })
})

test('after the third hang in a row the process exits, to be started again', { timeout: 60_000 }, async () => {
  const { data } = await world({ height: 20, again: true })
  writeFileSync(data.hangs.file, '')
  const files = ['cli/service/index-thread', 'log'].map(name => new URL(`../src/${name}.ts`, import.meta.url).href)
  const child = spawn(process.execPath, [
    '--eval',
    `import { Indexer } from '${files[0]}'
     import { createLog } from '${files[1]}'
     const log = createLog({ level: 'info', format: 'json' })
     const module = new URL('${module.href}')
     await Indexer.start({ module, data: ${JSON.stringify(data)}, log, silentMsMax: 400 })
     setInterval(() => {}, 1_000)`,
  ])
  let written = ''
  child.stderr.on('data', chunk => {
    written += chunk
  })
  expect(await once(child, 'close')).toEqual([75, null])
  expect(written).toContain('"msg":"Thread ended again and again; exiting"')
  expect(readFileSync(data.diary, 'utf8')).toBe('started\n'.repeat(3))
})
