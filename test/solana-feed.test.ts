// A network with a snapshot and a Yellowstone feed, end to end: the portfolio comes from the index while the feed is
// complete and keeps up, and from the node whenever it cannot be said that it is.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SolanaNode } from '../sandbox/src/solana-node.ts'
import { createLog } from '../src/log.ts'
import { programKeys } from '../src/solana/decode.ts'
import { Network } from '../src/solana/network.ts'
import { importSnapshot } from '../src/solana/snapshot.ts'
import type { Store } from '../src/store/store.ts'
import { type FaultProxy, startFaultProxy } from './solana-fault-proxy.ts'
import { type GeyserServer, startGeyserServer } from './solana-geyser-server.ts'
import { startProgramNode } from './solana-program-node.ts'
import { appendVector, type SnapshotAccount, writeArchive } from './solana-snapshot-archive.ts'
import { type Asker, asker, openTestStore } from './solana-store.ts'
import { Wallet } from './solana-wallet.ts'

const log = createLog({ level: 'silent', format: 'json' })

let node: SolanaNode
let proxy: FaultProxy
let wallet: Wallet
let geyser: GeyserServer
let store: Store
let remove: () => Promise<void>
let folder: string
let network: Network | undefined
let ask: Asker

beforeAll(async () => {
  node = await startProgramNode()
  proxy = await startFaultProxy(node)
  wallet = await Wallet.create(node)
  geyser = await startGeyserServer()
  folder = await mkdtemp(join(tmpdir(), 'almanac-feed-'))
  ;({ store, remove } = await openTestStore())
}, 60_000)
afterAll(async () => {
  await network?.close()
  geyser?.stop()
  await proxy?.close()
  await node?.stop()
  await remove?.()
  await rm(folder, { recursive: true, force: true })
})

const slotNow = () => wallet.rpc<number>('getSlot', [])
const lists = () => proxy.calls.get('getTokenAccountsByOwner') ?? 0

/** Accounts as the node has them now, for the snapshot and for the feed. */
async function accountsOf(keys: readonly string[]): Promise<SnapshotAccount[]> {
  const { value } = await wallet.rpc<{ value: { lamports: number; owner: string; data: [string] }[] }>(
    'getMultipleAccounts',
    [keys, { encoding: 'base64' }],
  )
  return value.map(({ lamports, owner, data }, index) => ({
    key: base58.decode(keys[index]!),
    lamports: BigInt(lamports),
    program: base58.decode(owner),
    data: Buffer.from(data[0], 'base64'),
  }))
}

async function snapshotOf(keys: readonly string[]): Promise<number> {
  const accounts = await accountsOf(keys)
  const slot = await slotNow()
  const path = join(folder, `snapshot-${slot}-${base58.encode(programKeys.token)}.tar.zst`)
  await writeArchive(path, [{ name: `accounts/${slot}.0`, content: appendVector(accounts) }])
  await importSnapshot({ store, network: 'devnet', path })
  return slot
}

/** Tells the node's present state of the accounts, and its slot. */
async function tell(...keys: string[]): Promise<void> {
  const slot = await slotNow()
  if (keys.length > 0) for (const account of await accountsOf(keys)) geyser.account(account, slot)
  geyser.slot(slot)
}

/** Tells the node's slot again and again. Stopping waits for what is under way, for which the node must still be there. */
function startTelling(): () => Promise<void> {
  let telling: Promise<void> | undefined
  const timer = setInterval(() => {
    telling ??= tell().finally(() => {
      telling = undefined
    })
  }, 50)
  return async () => {
    clearInterval(timer)
    await telling
  }
}

test('trusts a complete feed, and asks the node again whenever it is not', { timeout: 120_000 }, async () => {
  const owner = (await generateKeyPairSigner()).address
  const mint = await wallet.createMint({ decimals: 6 })
  const account = await wallet.mintTo(owner, mint, 1_000_000n)
  const snapshotSlot = await snapshotOf([mint, account])
  network = new Network({
    network: 'devnet',
    settings: {
      rpc: [proxy.rpcUrl],
      maxAgeMs: 0,
      subscriptionsMax: 0,
      reconcileMs: 60_000,
      yellowstone: geyser.url,
    },
    store,
    log,
  })
  ask = asker(store, network)
  await expect.poll(() => geyser.replayFrom()).toBe(Math.max(0, snapshotSlot - 32))

  // The feed has not told where it begins: the node is asked.
  const before = lists()
  expect((await ask(owner)).tokens).toMatchObject([{ account, amount: '1' }])
  expect(lists()).toBeGreaterThan(before)

  // From here on every slot is told, and portfolios come from the index.
  geyser.slot(Math.max(0, snapshotSlot - 32))
  let stopTelling = startTelling()
  const fromIndex = async () => {
    const earlier = lists()
    const { tokens } = await ask(owner)
    return { read: lists() - earlier, amounts: tokens.map(({ amount }) => amount) }
  }
  try {
    await expect.poll(fromIndex).toEqual({ read: 0, amounts: ['1'] })
    await wallet.mintTo(owner, mint, 500_000n)
    await tell(mint, account)
    await expect.poll(fromIndex).toEqual({ read: 0, amounts: ['1.5'] })

    // A feed that stands still while the chain goes on is not believed: the change that it does not tell is seen.
    await stopTelling()
    await wallet.mintTo(owner, mint, 500_000n)
    const lagging = await slotNow()
    await expect.poll(slotNow).toBeGreaterThan(lagging + 10)
    expect((await ask(owner)).tokens).toMatchObject([{ amount: '2' }])

    // Cut off, and back with a replay of what was missed.
    const told = geyser.lastSlot
    geyser.drop('the stream is over')
    await wallet.mintTo(owner, mint, 500_000n)
    expect((await ask(owner)).tokens).toMatchObject([{ amount: '2.5' }])
    await expect.poll(() => geyser.replayFrom()).toBe(told - 32)
    geyser.slot(told - 32)
    await tell(mint, account)
    stopTelling = startTelling()
    await expect.poll(fromIndex).toEqual({ read: 0, amounts: ['2.5'] })
    await stopTelling()

    // A gap beyond what the server can replay: from the node, though the feed goes on, until there is a newer snapshot.
    geyser.drop('the stream is over')
    await wallet.mintTo(owner, mint, 500_000n)
    await expect.poll(() => geyser.calls[2]?.requests.length).toBe(1)
    geyser.drop('from_slot is not available')
    await expect.poll(() => geyser.calls[3]?.requests.length).toBe(1)
    expect(geyser.replayFrom()).toBeUndefined()
    stopTelling = startTelling()
    await expect.poll(() => network?.status().feed).toMatchObject({ connected: true })
    await expect.poll(fromIndex).toMatchObject({ amounts: ['3'] })
    expect((await fromIndex()).read).toBeGreaterThan(0)
    expect(network.status().feed).toMatchObject({ complete: false })
  } finally {
    await stopTelling()
  }
})
