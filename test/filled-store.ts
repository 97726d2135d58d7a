// A store with something in every part, and what it shows: for copies between engines.
import type { ChainId, Hash } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { seed, seeded } from './seed.ts'

/** A store with something in every part. */
export async function fillEveryPart(url: string): Promise<void> {
  const store = await openStore(url, { role: 'owner' })
  await seed(store)
  const pending = [{ from: 1, to: 2, hash: `0x${'7'.repeat(64)}` as Hash }]
  await store.commitCold({
    ...{ chain: 10 as ChainId, covered: [], ranges: pending },
    ...{ blocks: [], transfers: [], activity: noActivity },
  })
  // A reorganisation, and final rows that were taken back.
  const fork = (number: number, branch: number) => {
    return { number, hash: `0x${`${number}${branch}`.padStart(64, '0')}` as Hash, timestamp: number }
  }
  const other = { chain: 5 as ChainId, ancestor: 4 }
  for (const branch of [1, 2]) {
    const block = { ...fork(5, branch), transfers: [], activity: noActivity }
    await store.commitHot({ ...other, blocks: [block], head: fork(5, branch) })
  }
  await store.putChainState(other.chain, { finalized: 5 })
  await store.unfinalize(other.chain, 4)
  const key = (n: number) => new Uint8Array(32).fill(n)
  await store.updateAccounts('devnet', {
    holdings: [
      {
        account: key(1),
        owner: key(2),
        mint: key(3),
        amount: 2n ** 64n - 1n,
        program: 'token',
        slot: 5,
        writeVersion: 2n ** 63n,
      },
      { account: key(4), closed: true, slot: 6, writeVersion: 9n },
    ],
  })
  await store.updateAccounts('devnet', {
    owners: [{ owner: key(2), lamports: 7n, slot: 3, chainTime: 1, readAtMs: 2 }],
  })
  await store.updateAccounts('devnet', {
    mints: [
      { mint: key(3), slot: 4, readAtMs: 1, metadata: { name: 'nul \0 and ✓', symbol: undefined, tokenStandard: 2 } },
    ],
  })
  await store.putKey({
    ...{ id: 'k', name: 'key', hash: 'ab', scopes: ['a'], createdAt: 1, expiresAt: undefined, revokedAt: 2 },
    ...{ ratePerSecond: 1.5, quotaPerDay: 7, indexPerDay: 7, indexWaiting: 7, replaces: 'j' },
  })
  await store.addUse([{ keyId: 'k', day: '2026-01-01', operation: 'x', count: 3 }])
  await store.watchContract(seeded.chains.eth, seeded.collection, { from: 12 })
  for (const at of [1, 2])
    await store.putWebFact(
      {
        ...{ name: Buffer.alloc(32, at), status: 'success', evidence: 'hash', type: 'image/png', size: at, width: at },
        ...{ height: null, readAtMs: at, content: Buffer.alloc(at, 0xff) },
      },
      { bytesMax: 2 ** 30 },
    )
  const webhook = { id: 'w', keyId: 'k', name: 'shop', url: 'https://shop.example/', filter: '{}', createdAt: 3 }
  const signing = { paused: false, secret: 2, oldSecretUntil: 4 }
  await store.addWebhook({ ...webhook, ...signing }, 'here', { ofKeys: ['k'], count: 1 })
  const lease = (await store.claim('webhooks', 'filler', 60_000))!
  const { progress } = (await store.webhooks())[0]!
  const batch = { id: 'msg', end: 'there', digest: 'x', changes: 2 }
  await store
    .fenced(lease)
    .putProgress(
      [{ ...progress, batch, sent: 1 }],
      [{ webhook: 'w', number: 1, at: 5, batch: 'msg', changes: 2, status: 500, error: 'no', tookMs: 6 }],
    )
  await store.putCheckpoint('feed', 'here')
  await store.close()
}

/** What its answers rest on. */
export async function shownOf(url: string) {
  const store = await openStore(url, { role: 'reader' })
  const { eth } = seeded.chains
  const pages = []
  for (const contract of [seeded.collection, seeded.editions, seeded.range]) {
    const page = await store.transferPage({ chain: eth, contract, order: 'desc', limit: 1_000 })
    const bytes = [page.blockHashes, page.payloads].map(part => Buffer.from(part).toString('hex'))
    pages.push(
      page.blocks,
      page.logIndexes,
      page.timestamps,
      bytes,
      await store.transferCount({ chain: eth, contract }),
    )
  }
  const seen = [
    pages,
    Buffer.from(store.secret).toString('hex'),
    await store.activityOf(seeded.alice),
    await store.hotBlocks(eth),
    await store.coverage(eth),
    await store.goneBlock(5 as ChainId, `0x${'51'.padStart(64, '0')}` as Hash),
    await store.takenBack(5 as ChainId),
    await store.checkpoint('feed'),
    await store.usesOf('2026-01-01'),
    await store.webhooks(),
    await store.deliveries('w'),
  ]
  await store.close()
  return seen
}
