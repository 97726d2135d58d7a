// Whole lists of a service that ends while it sends them, as a process of its own: killed, stopped, or with its database
// gone. None of them ends with the line that says that the list is whole.
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Address } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { row } from './listed-transfers.ts'
import { apes, blockOf, chain, hashOf } from './plain-rows.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { type RunningAlmanac, startAlmanac } from './running-almanac.ts'
import { engineAbove, startEngine } from './store-engines.ts'

const key = 'alm_whole-lists-stopped'
/** Some 12 MB as NDJSON: more than the buffers between the service and a client that does not read. */
const tokens = 40_000
const end = '"complete":true'
const whole = `{${end},"rows":${tokens},"block":19}`
/** A service that is asked to stop waits that long for its readers. */
const drainMs = 500

async function fill(url: string): Promise<void> {
  const store = await openStore(url, { role: 'owner' })
  const to = (token: number) => `0x${token.toString(16).padStart(40, 'a')}` as Address
  const transfers = Array.from({ length: tokens }, (_, token) =>
    row(apes, [10, token, token], { tokenId: BigInt(token), to: to(token), transactionHash: hashOf(token) }),
  )
  await store.commitCold({
    ...{ chain, transfers, activity: noActivity, blocks: [0, 10, 19].map(blockOf) },
    covered: [{ scope: 'transfers', from: 0, to: 19, evidence: 'receipts-root' }],
  })
  await store.putChainState(chain, { head: blockOf(19) })
  await store.close()
}

/** A client that takes what has arrived only when it is told to. */
class PausedReader {
  readonly #socket: Socket
  #text = ''
  #isClosed = false
  readonly #closed: Promise<void>

  constructor(url: string, path: string) {
    const { hostname, port, host } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.#closed = new Promise(resolve => this.#socket.once('close', () => resolve()))
    void this.#closed.then(() => (this.#isClosed = true))
    this.#socket.on('error', () => {})
    this.#socket.on('data', data => (this.#text += data.toString('latin1')))
    const headers = [`Host: ${host}`, `X-API-Key: ${key}`, 'Accept: application/x-ndjson', 'Connection: close']
    this.#socket.write(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  }

  /** Takes the first rows and no more. */
  async begin(): Promise<void> {
    while (!this.#text.includes('token_id')) {
      if (this.#isClosed) throw new Error(`The list did not begin: ${this.#text}`)
      await delay(5)
    }
    this.#socket.pause()
  }

  /** Everything that still comes. */
  async rest(): Promise<string> {
    this.#socket.resume()
    await this.#closed
    return this.#text
  }
}

const lists = [`/api/v2.2/nft/${apes}/transfers?chain=eth`, `/api/v2.2/nft/${apes}/owners?chain=eth`]

describe.each(engineAbove('sqlite'))('a service on %s', name => {
  let store: string
  /** Of this suite alone, which kills it. */
  let server: PostgresServer | undefined
  let close = async () => {}
  let almanac: RunningAlmanac | undefined

  beforeAll(async () => {
    vi.stubEnv('ALMANAC_LIMITS_DRAIN_TIMEOUT_MS', `${drainMs}`)
    if (name === 'postgres') {
      server = await startPostgres()
      close = server.stop
      store = await server.createDatabase()
    } else {
      const engine = await startEngine(name)
      close = engine.close
      store = await engine.newStore()
    }
    await fill(store)
  })
  afterAll(async () => {
    await almanac?.stop()
    await close()
    vi.unstubAllEnvs()
  })

  /** Of the service that runs, or else of a new one. */
  async function begun(): Promise<PausedReader[]> {
    almanac ??= await startAlmanac({ store, key })
    const readers = lists.map(path => new PausedReader(almanac!.url, path))
    for (const reader of readers) await reader.begin()
    return readers
  }

  async function marksNoneAfter(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const readers = await begun()
    const { processId, ended } = almanac!
    process.kill(processId, signal)
    await ended
    almanac = undefined
    for (const reader of readers) expect(await reader.rest()).not.toContain(end)
  }

  const sendsAllWhole = async () => {
    for (const reader of await begun()) expect(await reader.rest()).toContain(whole)
  }

  test.runIf(name === 'sqlite')('sends them whole where nothing happens', sendsAllWhole)

  test.runIf(name === 'postgres')('marks none as whole whose database goes away, and all once it is back', async () => {
    const readers = await begun()
    await server!.kill()
    for (const reader of readers) expect(await reader.rest()).not.toContain(end)
    await server!.start()
    await vi.waitFor(sendsAllWhole, { timeout: 15_000, interval: 200 })
  })

  test('marks none as whole once it is asked to stop', () => marksNoneAfter('SIGTERM'))

  test('marks none as whole after a kill', () => marksNoneAfter('SIGKILL'))
})
