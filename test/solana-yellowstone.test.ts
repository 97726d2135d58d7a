// The Yellowstone feed against a real gRPC server that speaks its protocol: rows, closes, replay after a disconnect.
import { base58 } from '@scure/base'
import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLog } from '../src/log.ts'
import { programKeys, systemProgram } from '../src/solana/decode.ts'
import { YellowstoneFeed } from '../src/solana/yellowstone.ts'
import type { Store } from '../src/store/store.ts'
import { holdingRows } from './holding-rows.ts'
import { type GeyserServer, type GeyserStream, startGeyserServer } from './solana-geyser-server.ts'
import { mintData, tokenAccountData } from './solana-snapshot-archive.ts'
import { openTestStore } from './solana-store.ts'

const lines: string[] = []
const log = createLog({ level: 'warn', format: 'json', write: line => lines.push(line) })
const key = (label: number) => new Uint8Array(32).fill(label)
const [owner, mint] = [key(1), key(2)]

let server: GeyserServer
let url: string
let store: Store
let remove: () => Promise<void>
let calls: GeyserServer['calls']
let feed: YellowstoneFeed | undefined
/** Writes that a test holds up, and lets go or fails. */
let writes: { rows: number; go: (failure?: Error) => void }[]

beforeEach(async () => {
  lines.length = 0
  writes = []
  ;({ store, remove } = await openTestStore())
  server = await startGeyserServer()
  ;({ calls, url } = server)
})
afterEach(async () => {
  const letGo = setInterval(() => writes.forEach(({ go }) => void go()), 10)
  await feed?.close()
  clearInterval(letGo)
  server.stop()
  await remove()
})

const account = (
  label: number,
  data: Uint8Array,
  other: { lamports?: string; program?: Uint8Array; slot?: number; version?: number } = {},
) =>
  SubscribeUpdate.fromPartial({
    filters: ['tokens'],
    account: {
      slot: String(other.slot ?? 100),
      account: {
        pubkey: key(label),
        lamports: other.lamports ?? '2039280',
        owner: other.program ?? programKeys.token,
        data,
        writeVersion: String(other.version ?? 1),
      },
    },
  })
const slot = (number: number) =>
  SubscribeUpdate.fromPartial({ filters: ['slots'], slot: { slot: String(number), status: 1 } })
const imported = (number: number) =>
  store.putCheckpoint('solana.devnet.snapshot', JSON.stringify({ full: number, slot: number }))
const covered = async () => JSON.parse((await store.checkpoint('solana.devnet.feed')) ?? 'null')
const held = (amount: bigint) => tokenAccountData({ mint, owner, amount })

async function amounts(): Promise<Record<number, bigint>> {
  await store.updateAccounts('devnet', {
    reading: { account: { owner, lamports: 1n, slot: 0, chainTime: 0, readAtMs: 0 }, holdings: [] },
  })
  const found = await store.portfolioOf('devnet', owner)
  return Object.fromEntries(holdingRows(found?.holdings).map(({ account: token, amount }) => [token[0], amount]))
}

test('opens, changes and closes accounts, in the order of their versions', async () => {
  feed = new YellowstoneFeed({ network: 'devnet', store, log, url })
  await expect.poll(() => calls[0]?.requests.length).toBe(1)
  const { call, requests } = calls[0]!
  expect(Object.keys(requests[0]!.accounts)).toEqual(['tokens', 'metadata', 'closed'])
  expect(requests[0]!.accounts.closed).toMatchObject({ owner: [systemProgram], filters: [{ lamports: { eq: '0' } }] })
  expect(requests[0]!.fromSlot).toBeUndefined()
  call.write(account(2, mintData({ decimals: 6, supply: 100n })))
  call.write(account(10, held(5n)))
  call.write(account(10, held(7n), { version: 3 }))
  call.write(account(10, held(6n), { version: 2 }))
  call.write(account(11, held(8n)))
  call.write(account(11, new Uint8Array(), { version: 2, lamports: '0', program: base58.decode(systemProgram) }))
  call.write(slot(100))
  await expect.poll(amounts).toEqual({ 10: 7n })
  expect(await store.mintsOf('devnet', [mint])).toMatchObject([{ decimals: 6, supply: 100n }])
  // Nothing was imported before, so that the store cannot hold every account.
  expect(feed.completeSlot).toBeUndefined()
})

test('replays from the last stored slot after a disconnect', async () => {
  await imported(1_000)
  feed = new YellowstoneFeed({ network: 'devnet', store, log, url })
  await expect.poll(() => calls[0]?.requests[0]?.fromSlot).toBe('968')
  const first = calls[0]!.call
  first.write(slot(968))
  first.write(account(10, held(5n), { slot: 2_000 }))
  first.write(slot(2_000))
  first.write(account(12, held(1n), { slot: 2_001 }))
  await expect.poll(() => feed?.completeSlot).toBe(2_000)
  await expect.poll(covered).toEqual({ from: 969, to: 2_000 })
  first.emit('error', { code: 14, details: 'gone' })
  await expect.poll(() => feed?.status().connected).toBe(false)
  expect(feed.completeSlot).toBeUndefined()
  await expect.poll(() => calls[1]?.requests[0]?.fromSlot).toBe('1968')
  const second = calls[1]!.call
  // Whether the replay joins what is stored is known with its first slot.
  await expect.poll(() => feed?.status().connected).toBe(true)
  expect(feed.completeSlot).toBeUndefined()
  second.write(slot(1_968))
  second.write(account(11, held(9n), { slot: 2_002 }))
  second.write(slot(2_002))
  await expect.poll(amounts).toEqual({ 10: 5n, 11: 9n, 12: 1n })
  await expect.poll(() => feed?.completeSlot).toBe(2_002)
  expect(await covered()).toEqual({ from: 969, to: 2_002 })
})

describe('is not complete, and becomes so above a newer snapshot,', () => {
  const expectGapThenComplete = async (call: GeyserStream) => {
    call.write(slot(6_000))
    call.write(account(10, held(5n), { slot: 6_001 }))
    call.write(slot(6_001))
    await expect.poll(amounts).toEqual({ 10: 5n })
    await expect.poll(covered).toEqual({ from: 6_001, to: 6_001 })
    expect(feed!.status()).toMatchObject({ connected: true, slot: 6_001, complete: false })
    expect(lines.join()).toContain('import a newer snapshot')
    await imported(6_000)
    let next = 6_002
    const nextSlot = () => {
      call.write(slot(next++))
      return feed?.completeSlot
    }
    await expect.poll(nextSlot).toBeGreaterThanOrEqual(6_002)
  }

  test('where the server says that it cannot go back far enough', async () => {
    await imported(1_000)
    feed = new YellowstoneFeed({ network: 'devnet', store, log, url, snapshotReadMs: 100 })
    await expect.poll(() => calls[0]?.requests.length).toBe(1)
    calls[0]!.call.emit('error', { code: 11, details: 'from_slot is not available, the first one is 5000' })
    await expect.poll(() => calls[1]?.requests.length).toBe(1)
    expect(calls[1]!.requests[0]!.fromSlot).toBeUndefined()
    await expectGapThenComplete(calls[1]!.call)
  })

  test('where the server begins later without a word', async () => {
    await imported(1_000)
    feed = new YellowstoneFeed({ network: 'devnet', store, log, url, snapshotReadMs: 100 })
    await expect.poll(() => calls[0]?.requests[0]?.fromSlot).toBe('968')
    await expectGapThenComplete(calls[0]!.call)
  })

  test('where the snapshot is older than what the feed has', async () => {
    // The feed ran without a snapshot, and one from before its first slot was imported afterwards.
    await store.putCheckpoint('solana.devnet.feed', JSON.stringify({ from: 4_000, to: 5_000 }))
    await imported(1_000)
    feed = new YellowstoneFeed({ network: 'devnet', store, log, url, snapshotReadMs: 100 })
    await expect.poll(() => calls[0]?.requests[0]?.fromSlot).toBe('968')
    calls[0]!.call.emit('error', { code: 11, details: 'from_slot is not available, the first one is 4500' })
    // What the feed has is kept without a gap at least, so that a newer snapshot can stand on it.
    await expect.poll(() => calls[1]?.requests[0]?.fromSlot).toBe('4968')
    const { call } = calls[1]!
    call.write(slot(4_968))
    call.write(slot(5_001))
    await expect.poll(covered).toEqual({ from: 4_000, to: 5_001 })
    expect(feed.status().complete).toBe(false)
  })
})

test('is complete above an older snapshot once the server has replayed everything since', async () => {
  await store.putCheckpoint('solana.devnet.feed', JSON.stringify({ from: 4_000, to: 5_000 }))
  await imported(1_000)
  feed = new YellowstoneFeed({ network: 'devnet', store, log, url })
  await expect.poll(() => calls[0]?.requests[0]?.fromSlot).toBe('968')
  calls[0]!.call.write(slot(970))
  await expect.poll(() => feed?.status().slot).toBe(970)
  expect(feed.completeSlot).toBeUndefined()
  calls[0]!.call.write(slot(1_500))
  await expect.poll(() => feed?.completeSlot).toBe(1_500)
  expect(await covered()).toEqual({ from: 971, to: 1_500 })
})

/** The real store, of which the test decides when and whether holdings are written. */
function heldUp(real: Store): Store {
  const updateAccounts: Store['updateAccounts'] = async (network, updates) => {
    const { holdings = [] } = updates
    if (holdings.length === 0) return await real.updateAccounts(network, updates)
    await new Promise<void>((resolve, reject) =>
      writes.push({ rows: holdings.length, go: failure => (failure === undefined ? resolve() : reject(failure)) }),
    )
    await real.updateAccounts(network, updates)
  }
  return new Proxy(real, {
    get(target, name) {
      if (name === 'updateAccounts') return updateAccounts
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
const ticks = (count: number) => new Promise(resolve => setTimeout(resolve, count * 100))

test('counts a slot as complete when it is stored, and gathers rows while a write is under way', async () => {
  await imported(1_000)
  feed = new YellowstoneFeed({ network: 'devnet', store: heldUp(store), log, url })
  await expect.poll(() => calls[0]?.requests.length).toBe(1)
  const { call } = calls[0]!
  call.write(slot(968))
  call.write(account(10, held(1n), { slot: 1_999 }))
  await expect.poll(() => writes.length).toBe(1)
  for (const [index, label] of [11, 12, 13].entries()) {
    call.write(account(label, held(1n), { slot: 2_000 + index }))
    call.write(slot(2_000 + index))
    await ticks(2)
  }
  expect(feed.status().slot).toBe(2_002)
  writes[0]!.go()
  await expect.poll(() => writes.map(({ rows }) => rows)).toEqual([1, 3])
  await ticks(2)
  expect(feed.completeSlot).toBeUndefined()
  expect(await covered()).toBeNull()
  writes[1]!.go()
  await expect.poll(() => feed?.completeSlot).toBe(2_002)
  await expect.poll(covered).toEqual({ from: 969, to: 2_002 })
  expect(await amounts()).toEqual({ 10: 1n, 11: 1n, 12: 1n, 13: 1n })
})

test('makes the server wait when as many rows are gathered as may be', async () => {
  feed = new YellowstoneFeed({ network: 'devnet', store: heldUp(store), log, url, rowsMax: 10 })
  await expect.poll(() => calls[0]?.requests.length).toBe(1)
  for (let label = 100; label < 200; label++) calls[0]!.call.write(account(label, held(1n)))
  let stored = 0
  for (let write = 0; stored < 100; write++) {
    await expect.poll(() => writes.length).toBeGreaterThan(write)
    const { rows, go } = writes[write]!
    await ticks(1)
    expect(rows).toBeLessThanOrEqual(10)
    stored += rows
    go()
  }
  await expect.poll(async () => Object.keys(await amounts()).length).toBe(100)
})

test('after a write that failed, nothing later moves the checkpoint before the replay', async () => {
  await imported(1_000)
  feed = new YellowstoneFeed({ network: 'devnet', store: heldUp(store), log, url })
  await expect.poll(() => calls[0]?.requests.length).toBe(1)
  calls[0]!.call.write(slot(968))
  calls[0]!.call.write(account(10, held(1n), { slot: 2_000 }))
  await expect.poll(() => writes.length).toBe(1)
  calls[0]!.call.write(account(11, held(1n), { slot: 2_001 }))
  calls[0]!.call.write(slot(2_001))
  await expect.poll(() => feed?.status().slot).toBe(2_001)
  await ticks(3)
  // The words are those of a server that cannot replay, which a store that fails is not.
  writes[0]!.go(new Error('the disk is not available'))
  await expect.poll(() => calls[1]?.requests[0]?.fromSlot).toBe('968')
  expect(writes).toHaveLength(1)
  // The replay has come to slot 1500, whatever was heard before.
  calls[1]!.call.write(slot(968))
  calls[1]!.call.write(account(12, held(1n), { slot: 1_500 }))
  calls[1]!.call.write(slot(1_500))
  await expect.poll(() => writes.length).toBe(2)
  writes[1]!.go()
  await expect.poll(covered).toEqual({ from: 969, to: 1_500 })
  expect(feed.completeSlot).toBe(1_500)
})
