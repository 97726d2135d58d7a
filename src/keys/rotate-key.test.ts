import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { KeyEnd } from '../store/key-store.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { StoreGatekeeper } from './gatekeeper.ts'
import { findKeys, issueKey, registerOperatorKey } from './keys.ts'
import { parseGrace, rotateKey } from './rotate-key.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

let directory: string
let store: Store

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-rotate-'))
  store = await openStore(`file:${join(directory, 'almanac.db')}`, { role: 'owner' })
})

afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

const wanted = { name: 'shop', scopes: ['portfolio', 'balances'], ratePerSecond: 5, quotaPerDay: 100 } as const

test('the successor may do the same, and both work until the grace period ends', async () => {
  const old = await issueKey(store, { ...wanted, indexPerDay: 0 })
  const nowMs = Date.now()
  const { key, secret, retired } = await rotateKey(store, old.key, { graceMs: parseGrace('24h'), nowMs })
  expect(key).toEqual({ ...old.key, id: key.id, hash: key.hash, createdAt: key.createdAt, replaces: old.key.id })
  expect([key.id, key.hash]).not.toEqual([old.key.id, old.key.hash])
  expect(retired).toEqual({ ...old.key, expiresAt: nowMs + dayMs })
  const gate = await StoreGatekeeper.open(store)
  expect((await gate.admit(secret, 'portfolio')).key.id).toBe(key.id)
  expect((await gate.admit(old.secret, 'portfolio')).key.id).toBe(old.key.id)
  await gate.close()
})

test('without a grace period the old key is revoked at once', async () => {
  const old = await issueKey(store, wanted)
  const { secret, retired } = await rotateKey(store, old.key, { graceMs: parseGrace('0') })
  expect(retired.revokedAt).toBeTypeOf('number')
  const gate = await StoreGatekeeper.open(store)
  expect((await gate.admit(secret, 'portfolio')).key.name).toBe('shop')
  expect(() => gate.admit(old.secret, 'portfolio')).toThrow('Invalid key')
  await gate.close()
})

test('an old key that ends sooner is not prolonged, and its successor lives as long as it was meant to', async () => {
  const nowMs = Date.now()
  const old = await issueKey(store, { ...wanted, expiresAt: nowMs + 5 * hourMs })
  const { key, retired } = await rotateKey(store, old.key, { graceMs: dayMs, nowMs: nowMs + 4 * hourMs })
  expect(retired.expiresAt).toBe(nowMs + 5 * hourMs)
  expect(key.expiresAt! - (nowMs + 4 * hourMs)).toBe(old.key.expiresAt! - old.key.createdAt)
})

test('a key that is not in force and the operator’s own key are not rotated, and nothing is made', async () => {
  const { key: revoked } = await issueKey(store, { ...wanted, name: 'revoked' })
  await store.endKey(revoked.id, { revokedAt: Date.now() })
  const { key: expired } = await issueKey(store, { ...wanted, expiresAt: Date.now() - 1 })
  const operator = await registerOperatorKey(store, 'operators-own')
  const keys = await store.keys()
  for (const key of [keys.find(({ id }) => id === revoked.id)!, expired, operator])
    await expect(rotateKey(store, key, { graceMs: dayMs })).rejects.toMatchObject({ code: 'bad_request' })
  expect(await store.keys()).toEqual(keys)
})

test('a successor whose secret could not be handed over does not stay in force', async () => {
  const old = await issueKey(store, wanted)
  const failing = Object.assign(Object.create(store) as Store, {
    endKey: async (id: string, end: KeyEnd) => {
      if ('expiresAt' in end) throw new Error('the disk is full')
      return await store.endKey(id, end)
    },
  })
  await expect(rotateKey(failing, old.key, { graceMs: dayMs })).rejects.toThrow('the disk is full')
  expect((await store.keys()).map(({ id, revokedAt }) => [id === old.key.id, revokedAt === undefined])).toEqual([
    [true, true],
    [false, false],
  ])
})

test.each(['', '24', 'h', '-1h', '1.5h', '366d', 'tomorrow', '2027-01-31'])('%j is not a grace period', text => {
  expect(() => parseGrace(text)).toThrow(/grace period .* is not a span/)
})

test('a name means the key that replaced the others, whenever they were made, and not one that has expired', async () => {
  const nowMs = Date.now()
  const { key: first } = await issueKey(store, { ...wanted, expiresAt: nowMs + 40 * dayMs })
  const { key: second } = await rotateKey(store, first, { graceMs: dayMs })
  // A clock that went back.
  await store.putKey({ ...second, createdAt: first.createdAt - 1 })
  expect((await findKeys(store, 'shop')).map(({ id }) => id)).toEqual([second.id, first.id])
  const { key: expired } = await issueKey(store, { ...wanted, name: 'app', expiresAt: nowMs - 1 })
  expect((await findKeys(store, 'app')).map(({ id }) => id)).toEqual([expired.id])
  const { key: later } = await issueKey(store, { ...wanted, name: 'app' })
  expect((await findKeys(store, 'app')).map(({ id }) => id)).toEqual([later.id])
  await issueKey(store, { ...wanted, name: 'app', expiresAt: nowMs + dayMs })
  await expect(findKeys(store, 'app')).rejects.toThrow('2 keys are named "app".')
})
