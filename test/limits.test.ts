// Rates and quotas across processes: real ones, on one store, that use one key as fast as they can.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreGatekeeper } from '../src/keys/gatekeeper.ts'
import { issueKey } from '../src/keys/keys.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { type Engine, engineNames, startEngine } from './store-engines.ts'

const taker = fileURLToPath(new URL('./limit-taker.ts', import.meta.url))
type Result = { admitted: number; refused: Record<string, number> }

/** Runs as many processes as one likes with the key at the same time; `elapsedMs` is from before the first request to after the last. */
async function takeTogether(url: string, secret: string, { processes = 2, forMs = 3_300 } = {}) {
  const children = Array.from({ length: processes }, () => fork(taker, [url, secret, `${forMs}`]))
  await Promise.all(children.map(child => once(child, 'message')))
  const startedMs = performance.now()
  const results = Promise.all(children.map(resultOf))
  for (const child of children) child.send('go')
  return { results: await results, elapsedMs: performance.now() - startedMs }
}

async function resultOf(child: ChildProcess): Promise<Result> {
  const [message] = (await once(child, 'message')) as [Result]
  if (child.exitCode === null) await once(child, 'exit')
  return message
}

const sum = (results: readonly Result[]) => results.reduce((total, { admitted }) => total + admitted, 0)

describe.each(engineNames)('on %s', name => {
  let engine: Engine
  let url: string
  let store: Store
  beforeAll(async () => {
    engine = await startEngine(name)
    url = await engine.newStore()
    store = await openStore(url, { role: 'reader' })
  })
  afterAll(async () => {
    await store.close()
    await engine.close()
  })

  test('no second sees more than the rate, however many processes ask', async () => {
    const ratePerSecond = 40
    const { secret } = await issueKey(store, { name: 'rate', scopes: ['portfolio'], ratePerSecond })
    const { results, elapsedMs } = await takeTogether(url, secret)
    // Seconds begin with a request: so many begin within the time, the last one not over yet.
    const secondsMax = Math.floor(elapsedMs / 1_000) + 1
    expect(sum(results)).toBeLessThanOrEqual(ratePerSecond * secondsMax)
    // As much as one process alone would get: what one takes ahead does not go to waste for long.
    expect(sum(results)).toBeGreaterThanOrEqual(ratePerSecond * 2)
    expect(results.every(({ refused }) => refused.rate_limited! > 0)).toBe(true)
  })

  test('no day sees more than the quota, and all of it can be used', async () => {
    const quotaPerDay = 3_000
    const { secret, key } = await issueKey(store, { name: 'quota', scopes: ['portfolio'], quotaPerDay })
    const { results } = await takeTogether(url, secret, { forMs: 2_000 })
    const used = sum(results)
    expect(used).toBeLessThanOrEqual(quotaPerDay)
    // What was taken ahead came back when the processes ended, to the last one.
    const gate = await StoreGatekeeper.open(store)
    let rest = 0
    const refusal = await (async () => {
      for (; ; rest++) await gate.admit(secret, 'portfolio')
    })().catch(error => error)
    expect(refusal).toMatchObject({ code: 'quota_exceeded' })
    expect(used + rest).toBe(quotaPerDay)
    await gate.close()
    const uses = await store.usesOf(new Date().toISOString().slice(0, 10))
    expect(uses.find(use => use.keyId === key.id)?.count).toBe(quotaPerDay)
  })
})
