// What the client tests run against: a seeded store, keys of several kinds, and the service in a process of its own.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueKey, scopes } from '../../src/keys/keys.ts'
import { openStore } from '../../src/store/open.ts'
import { type RunningAlmanac, startAlmanac } from '../running-almanac.ts'
import { seed } from '../seed.ts'
import { seedTokens } from '../seed-tokens.ts'

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
