// What the console is looked at with: the service as its users start it, over a seeded store, following one simulated chain with two
// endpoints in full, another on demand, and one whose only endpoint is gone.

import { filterText } from '../src/api/evm/webhooks/webhook-filter.ts'
import type { ChangeFilter } from '../src/query/changes/position.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import type { StoredWebhook } from '../src/store/webhook-store.ts'
import { pagesAreBuilt } from './built-pages.ts'
import { CommandPlace } from './command-run.ts'
import { seed, seeded } from './seed.ts'
import { seedTokens } from './seed-tokens.ts'
import { type SimNode, startSimNode } from './sim/node.ts'

/** Tokens of the seeded collection that were read: of the second the metadata is elsewhere. */
export const readTokens = [
  { tokenId: 12n, uri: `data:application/json,${encodeURIComponent('{"name":"Deed of the north field","rooms":4}')}` },
  { tokenId: 13n, uri: 'ipfs://bafybeigdyrzt/13.json' },
]

export type ConsoleWorld = {
  url: string
  /** With every scope. */
  key: string
  /** Followed in full as the chain `sim`. */
  node: SimNode
  /** A contract of the chain `sim` with transfers in nearly every block. */
  contract: string
  /** One of the chain `picked`, which is indexed on demand, that was not asked for yet. */
  unasked: string
  /** An ERC-20 token there that was not asked for yet. */
  coin: string
  /** Ends the service, and starts it again at the same place. */
  stopService(): Promise<void>
  startService(): Promise<void>
  stop(): Promise<void>
}

export async function startConsoleWorld(): Promise<ConsoleWorld> {
  await pagesAreBuilt()
  const key = 'a-key-for-the-console-tests'
  const place = new CommandPlace()
  const node = await startSimNode({
    chain: { chainId: 31_337, height: 364, hashes: 'real', genesisTime: Math.floor(Date.now() / 1_000) - 365 * 12 },
    endpoints: [{}, {}],
  })
  const watched = await startSimNode({ chain: { chainId: 31_338, height: 300, seed: 7 } })
  const gone = await startSimNode({ chain: { chainId: 31_339 } })
  await gone.close()
  const contract = node.chain.contracts.all
    .filter(({ kind }) => kind === 'erc721')
    .sort((a, b) => b.weight - a.weight)[0]!.address
  const onDemand = watched.chain.contracts.all.slice(0, 4).map(({ address }) => address)
  const unasked = watched.chain.contracts.all
    .slice(4)
    .filter(({ kind }) => kind === 'erc721')
    .sort((a, b) => b.weight - a.weight)[0]!.address
  place.configure({
    sim: { id: 31_337, rpc: node.endpoints.map(({ url }) => url), index: 'full', finality: 32 },
    picked: { id: 31_338, rpc: watched.url, index: 'on-demand', contracts: onDemand },
    gone: { id: 31_339, rpc: gone.url, index: 'full' },
  })
  const store = await openStore(place.storeUrl, { role: 'owner' })
  await seed(store)
  await seedTokens(store)
  const read = { contract: seeded.collection, readAtMs: Date.now() }
  await store.annotate({
    tokenUris: { chain: seeded.chains.eth, uris: readTokens.map(token => ({ ...token, ...read })) },
  })
  const facts = (await store.annotationsOf(seeded.chains.eth, seeded.collection)).facts
  const reading = { ...facts!.reading!, deployer: seeded.alice, createdBlock: 900 }
  await store.annotate({ facts: [{ ...facts!, reading }] })
  await addWebhook(store)
  await store.close()

  let port = 0
  let run = start()
  function start() {
    return place.begin(['start', '--listen', `127.0.0.1:${port}`], { ALMANAC_KEY: key })
  }
  const url = await run.listening()
  port = Number(new URL(url).port)
  return {
    url,
    key,
    node,
    contract,
    unasked,
    coin: watched.chain.contracts.erc20[0]!.address,
    async stopService() {
      run.child.kill('SIGTERM')
      await run.ended()
    },
    async startService() {
      run = start()
      await run.listening()
    },
    async stop() {
      await place.dispose()
      await Promise.all([node.close(), watched.close()])
    },
  }
}

export const webhookId = 'wh_5f0c3a9be2d45f0c3a'

/** Paused, so nothing is sent; with a delivery of before. */
async function addWebhook(store: Store): Promise<void> {
  const filter: ChangeFilter = {
    ...{ ledgers: [seeded.chains.eth], contract: seeded.collection, wallet: undefined, tokenId: undefined },
    finalOnly: false,
  }
  const webhook = {
    ...{
      id: webhookId,
      keyId: 'k0',
      name: 'shop',
      url: 'https://shop.example/transfers',
      createdAt: 1_700_000_000_000,
    },
    ...{ filter: filterText(filter), paused: true, secret: 1, oldSecretUntil: undefined },
  }
  await store.addWebhook(webhook, 'here', { ofKeys: ['k0'], count: 1 })
  const lease = (await store.claim('webhooks', 'before', 1_000))!
  const [{ progress }] = (await store.webhooks()) as [StoredWebhook]
  const delivery = { webhook: webhookId, number: 1, at: Date.now() - 60_000, batch: 'msg_1', changes: 3, tookMs: 41 }
  await store
    .fenced(lease)
    .putProgress([{ ...progress, sent: 1 }], [{ ...delivery, status: 500, error: 'The receiver answered 500' }])
}
