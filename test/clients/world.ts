// What the client tests run against: a seeded store, keys of several kinds, and the service in a process of its own.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueKey, scopes } from '../../src/keys/keys.ts'
import { openStore } from '../../src/store/open.ts'
import { type RunningAlmanac, startAlmanac } from '../running-almanac.ts'
import { seed, seeded, seededTransfers } from '../seed.ts'
import { seedTokens } from '../seed-tokens.ts'

/** What the newest token of the collection holds. */
export const drawn = {
  name: 'Drawn',
  image: `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg"/>')}`,
  attributes: [{ trait_type: 'Eyes', value: 2, display_type: 'number', max_value: 3 }],
}
const drawnUri = `data:application/json;base64,${Buffer.from(JSON.stringify(drawn)).toString('base64')}`

export type World = {
  url: string
  keys: {
    /** Every scope, no limit. */
    full: string
    /** One request a second. */
    slow: string
    /** One request a day. */
    small: string
    /** May ask for wallet chains only. */
    narrow: string
  }
  stop(): Promise<void>
}

export async function startWorld(flags: readonly string[] = []): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'almanac-clients-'))
  let almanac: RunningAlmanac | undefined
  const stop = async () => {
    await almanac?.stop()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const url = `file:${join(directory, 'almanac.db')}`
    const store = await openStore(url, { role: 'owner' })
    await seed(store)
    await seedTokens(store)
    const { tokenId } = seededTransfers(seeded.collection)[0]!
    const read = { contract: seeded.collection, tokenId, uri: drawnUri, readAtMs: 1_790_000_000_000 }
    await store.annotate({ tokenUris: { chain: seeded.chains.eth, uris: [read] } })
    const keys = {
      full: 'a-key-for-the-client-tests',
      slow: (await issueKey(store, { name: 'slow', scopes, ratePerSecond: 1 })).secret,
      small: (await issueKey(store, { name: 'small', scopes, quotaPerDay: 1 })).secret,
      narrow: (await issueKey(store, { name: 'narrow', scopes: ['wallet-chains'] })).secret,
    }
    await store.close()
    almanac = await startAlmanac({ store: url, key: keys.full, flags })
    return { url: almanac.url, keys, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
