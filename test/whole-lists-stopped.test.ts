// Whole lists of a service that ends while it sends them, as a process of its own: killed, stopped, or with its database
// gone. None of them ends with the line that says that the list is whole.
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Address } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { row } from './listed-transfers.ts'
import { apes, blockOf, chain, hashOf } from './plain-rows.ts'
import { type RunningAlmanac, startAlmanac } from './running-almanac.ts'
import { type Engine, engineNames, startEngine } from './store-engines.ts'

const key = 'alm_whole-lists-stopped'
/** Some 12 MB as NDJSON: more than the buffers between the service and a client that does not read. */
const tokens = 40_000
const end = '"complete":true'

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
  await store.putHead(chain, blockOf(19))
  await store.close()
}

/** A client that takes what has arrived only when it is told to. */
class PausedReader {
  readonly #socket: Socket
  #text = ''
  readonly closed: Promise<void>

  constructor(url: string, path: string) {
    const { hostname, port, host } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.closed = new Promise(resolve => this.#socket.once('close', () => resolve()))
    this.#socket.on('error', () => {})
    this.#socket.on('data', data => (this.#text += data.toString('latin1')))
    const headers = [`Host: ${host}`, `X-API-Key: ${key}`, 'Accept: application/x-ndjson', 'Connection: close']
    this.#socket.write(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  }

  /** Takes the first rows and no more. */
  async begin(): Promise<void> {
    while (!this.#text.includes('token_id')) await delay(5)
    this.#socket.pause()
  }

  /** Everything that still comes. */
  async rest(): Promise<string> {
    this.#socket.resume()
    await this.closed
    return this.#text
  }
}

const lists = [`/api/v2.2/nft/${apes}/transfers?chain=eth`, `/api/v2.2/nft/${apes}/owners?chain=eth`]

describe.each(engineNames)('a service on %s', name => {
  let engine: Engine
  let store: string
  let almanac: RunningAlmanac | undefined

  beforeAll(async () => {
    engine = await startEngine(name)
    store = await engine.newStore()
    await fill(store)
  })
  afterEach(() => almanac?.stop())
  afterAll(() => engine.close())

  async function begun(): Promise<PausedReader[]> {
    almanac = await startAlmanac({ store, key })
    const readers = lists.map(path => new PausedReader(almanac!.url, path))
    for (const reader of readers) await reader.begin()
    return readers
  }

  test('sends them whole where nothing happens', async () => {
    for (const reader of await begun()) expect(await reader.rest()).toContain(`{${end},"rows":${tokens},"block":19}`)
  })

  test.each(['SIGKILL', 'SIGTERM'] as const)('marks none as whole after %s', async signal => {
    const readers = await begun()
    process.kill(almanac!.processId, signal)
    // A service that is asked to stop waits a while for its readers, which take nothing.
    await Promise.race([almanac!.ended, delay(15_000)])
    for (const reader of readers) expect(await reader.rest()).not.toContain(end)
  })

  test.runIf(name === 'postgres')('marks none as whole whose database went away', async () => {
    const readers = await begun()
    await engine.server!.kill()
    for (const reader of readers) expect(await reader.rest()).not.toContain(end)
    await engine.server!.start()
    const again = new PausedReader(almanac!.url, lists[0]!)
    await again.begin()
    expect(await again.rest()).toContain(`{${end},"rows":${tokens},"block":19}`)
  })
})
