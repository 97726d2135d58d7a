import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isRelease } from '../../test/release-runs.ts'
import type { KeyFilter, KeyStore } from '../store/key-store.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { type Admission, StoreGatekeeper } from './gatekeeper.ts'
import { findKey, hashSecret, issueKey, registerOperatorKey, scopes } from './keys.ts'

let directory: string
let store: Store
let url: string
const opened: { close(): Promise<void> }[] = []

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-keys-'))
  url = `file:${join(directory, 'almanac.db')}`
  store = await openStore(url, { role: 'owner' })
})

afterEach(async () => {
  for (const resource of opened.splice(0).reverse()) await resource.close()
  await store.close()
  rmSync(directory, { recursive: true })
})

async function gatekeeper(of: KeyStore = store, flushEveryMs = 1_000): Promise<StoreGatekeeper> {
  const opening = await StoreGatekeeper.open(of, { flushEveryMs })
  opened.push(opening)
  return opening
}

async function admitted(
  gate: StoreGatekeeper,
  secret: string | undefined,
  scope: (typeof scopes)[number] = 'portfolio',
): Promise<Admission> {
  return await gate.admit(secret, scope)
}

describe('who is let in', () => {
  test('a key with the scope, at once and without a promise', async () => {
    const gate = await gatekeeper()
    const { secret, key } = await issueKey(store, { name: 'a', scopes: ['portfolio'] })
    expect(await admitted(gate, secret)).toEqual({ key, rateLimit: undefined, isConsole: false })
    expect(gate.admit(secret, 'portfolio')).not.toBeInstanceOf(Promise)
  })

  test('the secret is nowhere in the store', async () => {
    const { secret } = await issueKey(store, { name: 'a', scopes })
    const kept = JSON.stringify(await store.keys())
    expect(secret).toMatch(/^alm_[A-Za-z0-9_-]{43}$/)
    expect(kept).not.toContain(secret.slice(4))
    expect(kept).toContain(hashSecret(secret))
  })

  test('no one else, in the words of the contract', async () => {
    const gate = await gatekeeper()
    const { secret } = await issueKey(store, { name: 'a', scopes: ['portfolio'] })
    const { secret: expired } = await issueKey(store, { name: 'b', scopes, expiresAt: Date.now() - 1 })
    const { secret: revoked, key } = await issueKey(store, { name: 'c', scopes })
    await store.endKey(key.id, { revokedAt: Date.now() })
    const missing = { code: 'unauthorized', message: 'API KEY missing from x-api-key header' }
    const invalid = { code: 'unauthorized', message: 'Invalid key' }
    await expect(admitted(gate, undefined)).rejects.toMatchObject(missing)
    await expect(admitted(gate, '')).rejects.toMatchObject(missing)
    for (const wrong of [`${secret}a`, secret.slice(0, -1), 'x', 'x'.repeat(100_000), expired, revoked, '\0', '😀']) {
      await expect(admitted(gate, wrong)).rejects.toMatchObject(invalid)
    }
    await expect(admitted(gate, secret, 'ops')).rejects.toMatchObject({ code: 'forbidden', details: { scope: 'ops' } })
  })

  test('a key that expires while it is remembered stops', async () => {
    const gate = await gatekeeper()
    const { secret } = await issueKey(store, { name: 'a', scopes, expiresAt: Date.now() + 150 })
    await admitted(gate, secret)
    await delay(160)
    await expect(admitted(gate, secret)).rejects.toMatchObject({ message: 'Invalid key' })
  })

  test('a key revoked elsewhere stops within a second under constant use', async () => {
    const gate = await gatekeeper()
    const { secret, key } = await issueKey(store, { name: 'a', scopes })
    await admitted(gate, secret)
    const elsewhere = await openStore(url, { role: 'tool' })
    opened.push(elsewhere)
    await elsewhere.endKey(key.id, { revokedAt: Date.now() })
    const revokedAt = performance.now()
    const stopped = async () => {
      while (performance.now() - revokedAt < 5_000) {
        await admitted(gate, secret)
        await delay(5)
      }
    }
    await expect(stopped()).rejects.toMatchObject({ message: 'Invalid key' })
    // A busy machine is late with all that it does; before a release it is not busy.
    expect(performance.now() - revokedAt).toBeLessThan(isRelease ? 1_000 : 5_000)
  })

  test('a key made after its secret was refused works within a second', async () => {
    const gate = await gatekeeper()
    await expect(admitted(gate, 'chosen-by-the-operator')).rejects.toMatchObject({ message: 'Invalid key' })
    await registerOperatorKey(store, 'chosen-by-the-operator')
    await delay(1_000)
    await expect(admitted(gate, 'chosen-by-the-operator', 'ops')).resolves.toBeDefined()
  })
})

describe('guessing', () => {
  test('asks the store a bounded number of times, and keys that are in use still pass', async () => {
    const { secret } = await issueKey(store, { name: 'a', scopes })
    let lookups = 0
    const counted: KeyStore = Object.create(store, {
      keys: {
        value: (asked?: KeyFilter) => {
          if (asked?.hash !== undefined) lookups++
          return store.keys(asked)
        },
      },
      usesOf: { value: (day: string) => store.usesOf(day) },
      addUse: { value: (uses: Parameters<KeyStore['addUse']>[0]) => store.addUse(uses) },
    })
    const gate = await gatekeeper(counted)
    const startedAt = performance.now()
    const outcomes = new Map<string, number>()
    for (let guess = 0; guess < 20_000; guess++) {
      const { code } = (await admitted(gate, `guess-${guess}`).catch((error: { code: string }) => error)) as {
        code: string
      }
      outcomes.set(code, (outcomes.get(code) ?? 0) + 1)
      if (guess % 1_000 === 0) await admitted(gate, secret)
    }
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000)
    expect(lookups).toBeLessThanOrEqual(500 * (seconds + 1) + 20)
    expect(outcomes.get('unauthorized')).toBeGreaterThan(0)
    expect(outcomes.get('overloaded')).toBeGreaterThan(0)
  })
})

describe('limits', () => {
  test('a rate is counted down and refused beyond, until the second is over', async () => {
    const gate = await gatekeeper()
    const { secret } = await issueKey(store, { name: 'a', scopes, ratePerSecond: 3 })
    const seen = []
    for (let request = 0; request < 3; request++) seen.push((await admitted(gate, secret)).rateLimit)
    expect(seen).toEqual([2, 1, 0].map(remaining => ({ limit: 3, remaining, resetSeconds: 1 })))
    const refusal = await admitted(gate, secret).catch(error => error)
    expect(refusal).toMatchObject({
      code: 'rate_limited',
      message: 'Rate limit exceeded',
      retryable: true,
      details: { rateLimit: { limit: 3, remaining: 0, resetSeconds: 1 } },
    })
    expect(refusal.retryAfterMs).toBeGreaterThan(0)
    expect(refusal.retryAfterMs).toBeLessThanOrEqual(1_000)
    await delay(refusal.retryAfterMs + 20)
    expect((await admitted(gate, secret)).rateLimit?.remaining).toBe(2)
  })

  test('refused requests cost no quota, and other keys are not touched', async () => {
    const gate = await gatekeeper()
    const { secret, key } = await issueKey(store, { name: 'a', scopes, ratePerSecond: 1, quotaPerDay: 2 })
    const { secret: other } = await issueKey(store, { name: 'b', scopes, ratePerSecond: 1 })
    await admitted(gate, secret)
    for (let request = 0; request < 5; request++)
      await expect(admitted(gate, secret)).rejects.toMatchObject({ code: 'rate_limited' })
    await admitted(gate, other)
    await gate.close()
    const uses = await store.usesOf(new Date().toISOString().slice(0, 10))
    expect(uses.filter(use => use.keyId === key.id)).toEqual([
      expect.objectContaining({ operation: 'portfolio', count: 1 }),
    ])
  })

  test('a quota holds, survives a restart and is shared by processes, to the last request', async () => {
    const { secret } = await issueKey(store, { name: 'a', scopes, quotaPerDay: 10 })
    const first = await gatekeeper()
    const elsewhere = await openStore(url, { role: 'reader' })
    opened.push(elsewhere)
    const second = await gatekeeper(elsewhere)
    for (const gate of [first, first, second, first, second, second, second, first, second])
      await admitted(gate, secret)
    await second.close()
    await first.close()
    const third = await gatekeeper()
    await admitted(third, secret)
    const refusal = await admitted(third, secret).catch(error => error)
    expect(refusal).toMatchObject({ code: 'quota_exceeded', details: { limit: '10 requests a day' } })
    expect(refusal.details.reason).toBe('The key has used its 10 requests of today (UTC).')
    expect(refusal.retryAfterMs).toBeGreaterThan(0)
    expect(refusal.retryAfterMs).toBeLessThanOrEqual(86_400_000)
    await expect(admitted(await gatekeeper(elsewhere), secret)).rejects.toMatchObject({ code: 'quota_exceeded' })
  })

  test('an answer that is worth many requests takes them from the day, and not from the rate', async () => {
    const gate = await gatekeeper(store, 10)
    const { secret } = await issueKey(store, { name: 'a', scopes, ratePerSecond: 2, quotaPerDay: 10 })
    await admitted(gate, secret)
    await gate.spend(secret, 'portfolio', 8)
    await admitted(gate, secret)
    await expect(gate.spend(secret, 'portfolio', 1)).rejects.toMatchObject({ code: 'quota_exceeded' })
    await expect.poll(() => store.usesOf(new Date().toISOString().slice(0, 10))).toMatchObject([{ count: 10 }])
  })

  test('what a busy process took ahead and did not use is given back', async () => {
    const { secret, key } = await issueKey(store, { name: 'a', scopes, quotaPerDay: 1_000 })
    const gate = await gatekeeper()
    for (let request = 0; request < 200; request++) await admitted(gate, secret)
    const asked = { keyId: key.id, ratePerSecond: undefined, quotaPerDay: undefined, wanted: 0, unused: undefined }
    expect((await store.takeAllowance(asked)).usedInDay).toBeGreaterThan(200)
    await gate.close()
    expect((await store.takeAllowance(asked)).usedInDay).toBe(200)
  })
})

describe("the operator's own key", () => {
  test('is registered once, with every scope and no limit', async () => {
    const key = await registerOperatorKey(store, 'operator')
    expect(key).toMatchObject({ name: 'ALMANAC_KEY', scopes, ratePerSecond: undefined, quotaPerDay: undefined })
    expect(await registerOperatorKey(store, 'operator')).toEqual(key)
    await registerOperatorKey(store, 'another')
    const keys = await store.keys()
    expect(keys).toHaveLength(2)
    expect(keys.every(({ revokedAt }) => revokedAt === undefined)).toBe(true)
  })

  test('widens a key that was issued with less', async () => {
    const { secret, key } = await issueKey(store, { name: 'a', scopes: ['portfolio'], ratePerSecond: 1 })
    expect(await registerOperatorKey(store, secret)).toMatchObject({ id: key.id, scopes, ratePerSecond: undefined })
    expect(await store.keys()).toHaveLength(1)
  })

  test('does not bring a revoked key back', async () => {
    const key = await registerOperatorKey(store, 'operator')
    await store.endKey(key.id, { revokedAt: Date.now() })
    expect(await registerOperatorKey(store, 'operator')).toMatchObject({ id: key.id, revokedAt: expect.any(Number) })
    expect(await store.keys()).toMatchObject([{ id: key.id, revokedAt: expect.any(Number) }])
  })

  test('has a name that no other key can be given', async () => {
    const issued = issueKey(store, { name: 'ALMANAC_KEY', scopes: ['ops'] })
    await expect(issued).rejects.toMatchObject({ code: 'bad_request', details: { parameter: 'name' } })
  })

  test.each(['', 'with space', 'new\nline', 'ü', 'x'.repeat(257)])(
    'is refused when no header can hold it: %j',
    async secret => {
      await expect(registerOperatorKey(store, secret)).rejects.toMatchObject({ code: 'config_invalid' })
    },
  )
})

describe('finding the key that is meant', () => {
  test('by id, or by a name that one key in use has', async () => {
    const { key: old } = await issueKey(store, { name: 'ci', scopes })
    expect(await findKey(store, 'ci')).toEqual(old)
    expect(await findKey(store, old.id)).toEqual(old)
    const { key } = await issueKey(store, { name: 'ci', scopes })
    await expect(findKey(store, 'ci')).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining(key.id),
    })
    await store.endKey(old.id, { revokedAt: Date.now() })
    expect((await findKey(store, 'ci')).id).toBe(key.id)
    await expect(findKey(store, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
  })
})
