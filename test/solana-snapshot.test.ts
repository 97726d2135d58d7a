// Snapshot archives end in the same rows as reading the node would; interrupted, damaged and incremental ones included.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { programKeys } from '../src/solana/decode.ts'
import { importedSnapshots, importSnapshot, parseSnapshotName } from '../src/solana/snapshot.ts'
import { openSolanaStaging, openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { holdingRows } from './holding-rows.ts'
import { solanaAccount } from './recordings.ts'
import {
  type ArchiveFile,
  appendVector,
  mintData,
  type SnapshotAccount,
  systemKey,
  tokenAccountData,
  writeArchive,
} from './solana-snapshot-archive.ts'
import { openTestStore } from './solana-store.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

const key = (label: number) => new Uint8Array(32).fill(label)
const owner = key(1)
const mint = key(2)
const hash = '9vKpBqXe'

let folder: string
let store: Store
let remove: () => Promise<void>

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-snapshot-'))
  ;({ store, remove } = await openTestStore())
})
afterEach(async () => {
  await remove()
  await rm(folder, { recursive: true, force: true })
})

const held = (label: number, amount: bigint): SnapshotAccount => ({
  key: key(label),
  lamports: 2_039_280n,
  program: programKeys.token,
  data: tokenAccountData({ mint, owner, amount }),
})
const gone = (label: number): SnapshotAccount => ({
  key: key(label),
  lamports: 0n,
  program: systemKey,
  data: new Uint8Array(),
})
const other = (label: number, bytes: number): SnapshotAccount => ({
  key: key(label),
  lamports: 1n,
  program: key(99),
  data: new Uint8Array(bytes).fill(7),
})
const theMint: SnapshotAccount = {
  key: mint,
  lamports: 1n,
  program: programKeys.token,
  data: mintData({ decimals: 6, supply: 9n }),
}

async function archive(
  name: string,
  files: [slot: number, accounts: SnapshotAccount[], unused?: number][],
): Promise<string> {
  const path = join(folder, name)
  const vectors: ArchiveFile[] = files.map(([slot, accounts, unused], index) => ({
    name: `accounts/${slot}.${index}`,
    content: appendVector(accounts, unused),
  }))
  await writeArchive(path, [
    { name: 'version', content: Buffer.from('1.2.0') },
    { name: 'snapshots/100/100', content: Buffer.alloc(5_000, 3) },
    ...vectors,
  ])
  return path
}

async function amounts(): Promise<Record<number, bigint>> {
  // An owner counts as known once it was read: a reading of its balance alone keeps the holdings.
  const account = { owner, lamports: 5n, slot: 1, chainTime: 0, readAtMs: 0 }
  await store.updateAccounts('devnet', { reading: { account, holdings: [] } })
  const found = await store.portfolioOf('devnet', owner)
  return Object.fromEntries(holdingRows(found?.holdings).map(({ account, amount }) => [account[0], amount]))
}

describe('a full snapshot', () => {
  test('is stored account by account, the newest of each', async () => {
    const path = await archive(`snapshot-100-${hash}.tar.zst`, [
      [90, [other(50, 1_000), held(10, 5n), held(11, 6n), theMint, gone(12)], 4_096],
      [80, [held(10, 4n), held(12, 9n), other(51, 333)]],
      [95, [held(13, 2n ** 64n - 1n), gone(11)]],
    ])
    const progress = await importSnapshot({ store, network: 'devnet', path })
    expect(progress).toMatchObject({ slot: 100, mints: 1, skipped: 2, holdings: 7 })
    expect(await amounts()).toEqual({ 10: 5n, 13: 2n ** 64n - 1n })
    expect(await store.mintsOf('devnet', [mint])).toMatchObject([{ decimals: 6, supply: 9n, slot: 0 }])
    expect(await importedSnapshots(store, 'devnet')).toEqual({ full: 100, slot: 100 })
  })

  test('does not bring back what a later reading of the owner no longer had', async () => {
    await store.updateAccounts('devnet', {
      reading: { account: { owner, lamports: 5n, slot: 200, chainTime: 0, readAtMs: 0 }, holdings: [] },
    })
    const path = await archive(`snapshot-100-${hash}.tar.zst`, [[90, [held(10, 5n), theMint]]])
    await importSnapshot({ store, network: 'devnet', path })
    expect((await store.portfolioOf('devnet', owner))?.holdings).toHaveLength(0)
  })

  test('far older than what the feed has stored is refused', async () => {
    await store.putCheckpoint('solana.devnet.feed', JSON.stringify({ from: 5, to: 200_000 }))
    const path = await archive(`snapshot-100-${hash}.tar.zst`, [[90, [held(10, 5n), theMint]]])
    await expect(importSnapshot({ store, network: 'devnet', path })).rejects.toThrow(
      /closed since then could come back/,
    )
    expect(await amounts()).toEqual({})
  })

  test('holds what the recorded mainnet accounts say', async () => {
    const names = ['madlads-9963-mint', 'madlads-9963-metadata', 'madlads-9963-token-account', 'pyusd-mint']
    const accounts = names.map((name): SnapshotAccount => {
      const recorded = solanaAccount(name)
      return { ...recorded, program: base58.decode(recorded.program) }
    })
    const path = await archive(`snapshot-100-${hash}.tar.zst`, [[90, accounts]])
    await importSnapshot({ store, network: 'devnet', path })
    const token = solanaAccount('madlads-9963-token-account')
    const nftOwner = token.data.slice(32, 64)
    await store.updateAccounts('devnet', {
      reading: { account: { owner: nftOwner, lamports: 5n, slot: 1, chainTime: 0, readAtMs: 0 }, holdings: [] },
    })
    expect(holdingRows((await store.portfolioOf('devnet', nftOwner))?.holdings)).toMatchObject([
      { amount: 1n, name: 'Mad Lads #9963', symbol: 'MAD', tokenStandard: 4, decimals: 0, supply: '1' },
    ])
    expect(await store.mintsOf('devnet', [solanaAccount('pyusd-mint').key])).toMatchObject([
      { name: 'PayPal USD', symbol: 'PYUSD', decimals: 6, program: 'token-2022' },
    ])
  })
})

describe('an incremental snapshot', () => {
  test('changes, closes and opens accounts', async () => {
    const full = await archive(`snapshot-100-${hash}.tar.zst`, [[90, [held(10, 5n), held(11, 6n), theMint]]])
    await importSnapshot({ store, network: 'devnet', path: full })
    const next = await archive(`incremental-snapshot-100-150-${hash}.tar.zst`, [
      [140, [held(10, 7n), gone(11), held(12, 8n)]],
    ])
    await importSnapshot({ store, network: 'devnet', path: next })
    expect(await amounts()).toEqual({ 10: 7n, 12: 8n })
    expect(await importedSnapshots(store, 'devnet')).toEqual({ full: 100, slot: 150 })
  })

  test('is refused without the full one it stands on', async () => {
    const path = await archive(`incremental-snapshot-100-150-${hash}.tar.zst`, [])
    await expect(importSnapshot({ store, network: 'devnet', path })).rejects.toMatchObject({
      code: 'bad_request',
      message: /full one of slot 100, but none was imported/,
    })
  })
})

describe('an import that does not end well', () => {
  const manyFiles = (count: number) =>
    Array.from({ length: count }, (_, index): [number, SnapshotAccount[]] => [
      index + 1,
      Array.from({ length: 2_000 }, (_, account) => {
        const unique = Buffer.alloc(32)
        unique.writeUInt32BE(index * 2_000 + account)
        return { ...held(0, 1n), key: unique }
      }),
    ])

  test('goes on after an interruption, and ends with the same rows', async () => {
    const path = await archive(`snapshot-100-${hash}.tar.zst`, manyFiles(80))
    const stop = new AbortController()
    const interrupted = importSnapshot({
      store,
      network: 'devnet',
      path,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    })
    await expect(interrupted).rejects.toMatchObject({ code: 'interrupted' })
    expect(await amounts()).toEqual({})
    const { holdings } = await importSnapshot({ store, network: 'devnet', path })
    expect(holdings).toBeLessThan(160_000)
    await store.updateAccounts('devnet', {
      reading: { account: { owner, lamports: 5n, slot: 0, chainTime: 0, readAtMs: 0 }, holdings: [] },
    })
    expect((await store.portfolioOf('devnet', owner))?.holdings).toHaveLength(160_000)
  })

  test.each([
    ['cut', (bytes: Buffer) => bytes.subarray(0, bytes.length - 200)],
    ['damaged', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 300), Buffer.alloc(100, 1), bytes.subarray(400)])],
    ['no archive at all', () => Buffer.from('nothing of the kind')],
  ])('says that the archive is %s and changes nothing', async (_, spoil) => {
    const path = await archive(`snapshot-100-${hash}.tar.zst`, manyFiles(3))
    await writeFile(path, spoil(await readFile(path)))
    await expect(importSnapshot({ store, network: 'devnet', path })).rejects.toMatchObject({ code: 'bad_request' })
    expect(await amounts()).toEqual({})
    expect(await importedSnapshots(store, 'devnet')).toBeUndefined()
  })

  test('of a file with another name is refused', () => {
    expect(parseSnapshotName('/x/snapshot-1-abc.tar.zst')).toEqual({ slot: 1, base: undefined })
    expect(parseSnapshotName('incremental-snapshot-1-2-abc.tar.zst')).toEqual({ slot: 2, base: 1 })
    for (const name of ['snapshot.tar.zst', 'snapshot-1-abc.tar.bz2', 'snapshot-1.tar.zst'])
      expect(parseSnapshotName(name)).toBeUndefined()
  })
})

describe.each(engineAbove('postgres'))('on %s', name => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine(name)
  }, 60_000)
  afterAll(() => engine.close())
  beforeEach(async () => {
    await remove()
    store = await openStore(await engine.newStore(), { role: 'owner' })
    remove = () => store.close()
  })

  test('a second full snapshot takes away what it lacks, and leaves what is newer', async () => {
    const first = await archive(`snapshot-100-${hash}.tar.zst`, [
      [90, [held(10, 5n), held(11, 6n), held(12, 7n), theMint]],
    ])
    await importSnapshot({ store, network: 'devnet', path: first })
    const newer = { account: key(13), owner, mint, amount: 8n, program: 'token', slot: 300, writeVersion: 1n } as const
    await store.updateAccounts('devnet', { holdings: [newer] })
    // The owner was read in between: what the snapshot says of it is newer, though it was changed before.
    const account = { owner, lamports: 5n, slot: 150, chainTime: 0, readAtMs: 0 }
    const read = { ...newer, slot: 150, writeVersion: 0n }
    await store.updateAccounts('devnet', {
      reading: {
        account,
        holdings: [
          { ...read, account: key(10), amount: 5n },
          { ...read, account: key(12), amount: 7n },
        ],
      },
    })
    const second = await archive(`snapshot-200-${hash}.tar.zst`, [[90, [held(10, 5n), theMint]]])
    await importSnapshot({ store, network: 'devnet', path: second })
    expect(await amounts()).toEqual({ 10: 5n, 13: 8n })
  })

  test('of one account the newest row counts, staged or stored, whoever holds it', async () => {
    const row = (label: number, by: number, slot: number) => ({
      ...{ account: key(label), owner: key(by), mint, amount: BigInt(slot), program: 'token' as const, slot },
      writeVersion: 0n,
    })
    const closed = (label: number, slot: number) => ({
      ...{ account: key(label), closed: true as const, slot, writeVersion: 0n },
    })
    const holdingsOf = async (by: number) => {
      const found = await store.portfolioOf('devnet', key(by))
      return Object.fromEntries(holdingRows(found!.holdings).map(({ account, amount }) => [account[0], Number(amount)]))
    }
    for (const by of [30, 31])
      await store.updateAccounts('devnet', {
        reading: { account: { owner: key(by), lamports: 1n, slot: 10, chainTime: 1, readAtMs: 1 }, holdings: [] },
      })
    await store.updateAccounts('devnet', {
      holdings: [row(40, 30, 50), row(41, 30, 300), closed(42, 300), row(43, 30, 50), row(44, 30, 50)],
    })
    const staging = await openSolanaStaging(store, 'devnet')
    await staging.commit({ holdings: [row(40, 31, 100), row(41, 31, 100), row(42, 30, 100)], mints: [] }, '1')
    await staging.commit({ holdings: [row(40, 30, 90), closed(43, 100), row(45, 31, 80)], mints: [] }, '2')
    await staging.merge({ slot: 200, whole: false })
    expect([await holdingsOf(30), await holdingsOf(31)]).toEqual([
      { 41: 300, 44: 50 },
      { 40: 100, 45: 80 },
    ])
    const whole = await openSolanaStaging(store, 'devnet')
    await whole.commit({ holdings: [row(44, 31, 210), row(41, 31, 220)], mints: [] }, '1')
    await whole.merge({ slot: 250, whole: true })
    expect([await holdingsOf(30), await holdingsOf(31)]).toEqual([{ 41: 300 }, { 44: 210 }])
  })

  test('one that was interrupted goes on, and takes away nothing of what it stored before', async () => {
    const first = await archive(`snapshot-100-${hash}.tar.zst`, [[90, [held(10, 5n), held(11, 6n), theMint]]])
    await importSnapshot({ store, network: 'devnet', path: first })
    const row = { owner, mint, program: 'token', slot: 90, writeVersion: 0n } as const
    const begun = await openSolanaStaging(store, 'devnet')
    expect(await begun.checkpoint()).toBeUndefined()
    await begun.commit({ holdings: [{ ...row, account: key(10), amount: 5n }], mints: [] }, 'one file')
    await begun.close()
    const next = await openSolanaStaging(store, 'devnet')
    expect(await next.checkpoint()).toBe('one file')
    await next.commit({ holdings: [{ ...row, account: key(12), amount: 7n }], mints: [] }, 'two files')
    await next.merge({ slot: 200, whole: true })
    expect(await next.checkpoint()).toBeUndefined()
    expect(await amounts()).toEqual({ 10: 5n, 12: 7n })
  })

  test('one that an older version began is begun anew: which accounts it stored is not known', async () => {
    await store.putCheckpoint('solana.devnet.import', 'one file')
    expect(await (await openSolanaStaging(store, 'devnet')).checkpoint()).toBeUndefined()
  })
})
