// What one key can take from others by asking who owned what, in small: another block in every request, clients that
// leave, and whole lists that are read slowly. `bench/holdings-attack.ts` is the same at full size.
import { type ClientRequest, get } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueKey } from '../src/keys/keys.ts'
import type { Address } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { row } from './listed-transfers.ts'
import { apes, art, blockOf, chain, hashOf } from './plain-rows.ts'
import { type ServedApi, serveApi } from './served-api.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

/** More than is small, in every block from the first of these to the head. */
const tokens = 45_000
const [firstBlock, head] = [10, 59]
const perBlock = tokens / (head - firstBlock + 1)
/** Four of its sheets or so. */
const bytesMax = 16 * 2 ** 20

async function fill(store: Store): Promise<void> {
  const to = (token: number) => `0x${token.toString(16).padStart(40, 'a')}` as Address
  const transfers = Array.from({ length: tokens }, (_, token) => {
    const at = [firstBlock + Math.floor(token / perBlock), token, token] as [number, number, number]
    return row(apes, at, { tokenId: BigInt(token), to: to(token), transactionHash: hashOf(token) })
  })
  await store.commitCold({
    ...{ chain, activity: noActivity, blocks: Array.from({ length: head + 1 }, (_, number) => blockOf(number)) },
    transfers: [...transfers, row(art, [20, tokens, tokens], { tokenId: 1n, to: to(1) })],
    covered: [{ scope: 'transfers', from: 0, to: head, evidence: 'receipts-root' }],
  })
  await store.putChainState(chain, { head: blockOf(head) })
}

describe.each(engineAbove('sqlite'))('on %s', name => {
  let engine: Engine
  let store: Store
  let api: ServedApi
  let attacker: string

  beforeAll(async () => {
    engine = await startEngine(name)
    store = await openStore(await engine.newStore(), { role: 'owner' })
    await fill(store)
    attacker = (await issueKey(store, { name: 'attacker', scopes: ['nft-transfers', 'nft-holdings'] })).secret
    // The slow reader below takes at most 64 kB in 0.3 s.
    const readerRate = { bytesPerSecond: 1_000_000, windowMs: 500 }
    // However slow the machine is: what waits is not to time out.
    const settings = { requestTimeoutMs: 110_000 }
    api = await serveApi({ store, settings, parts: { holdingsBounds: { bytesMax }, readerRate } })
  })
  afterAll(async () => {
    await api?.close()
    await store?.close()
    await engine?.close()
  })

  /** The value of a metric, of all labels together. */
  const figure = async (metric: string): Promise<number> => {
    const text = await (await api.get('/metrics')).text()
    const values = text.matchAll(new RegExp(`^almanac_${metric}(?:{[^}]*})? (\\S+)$`, 'gm'))
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0)
  }
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) await delay(30)
  }
  const ask = (atBlock: number, contract: Address = apes): { request: ClientRequest; status: Promise<number> } => {
    const { promise: status, resolve } = Promise.withResolvers<number>()
    const path = `/api/v2/nft/${contract}/owners?chain=eth&limit=1&at_block=${atBlock}`
    const request = get(`${api.url}${path}`, { headers: { 'x-api-key': attacker }, agent: false }, response => {
      response.resume()
      resolve(response.statusCode!)
    })
    request.on('error', () => resolve(0))
    return { request, status }
  }

  test('one key that asks for every block leaves memory within its bound, and others their pages', async () => {
    const attack = Array.from({ length: head - firstBlock }, (_, at) => ask(firstBlock + at))
    let most = 0
    let isOver = false
    const statuses = Promise.all(attack.map(({ status }) => status)).finally(() => {
      isOver = true
    })
    const others: number[] = []
    for (let at = 0; !isOver; at++) {
      others.push((await api.get(`/api/v2/nft/${art}/owners?chain=eth&at_block=${20 + (at % 39)}`)).status)
      most = Math.max(most, (await figure('holdings_held_bytes')) + (await figure('holdings_making_bytes')))
    }
    const answered = new Set(await statuses)
    expect(answered).toContain(200)
    expect(answered).toContain(429)
    expect([...answered].filter(status => ![200, 429, 503].includes(status))).toEqual([])
    expect(new Set(others)).toEqual(new Set([200]))
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(bytesMax)
    expect(await figure('holdings_refused_total')).toBeGreaterThan(0)
  }, 120_000)

  test('work for clients that left ends, and what waited for them is never begun', async () => {
    const before = await figure('holdings_cancelled_total')
    const attack = Array.from({ length: 12 }, (_, at) => ask(head - at))
    await until(async () => (await figure('holdings_working')) >= 5)
    for (const { request } of attack) request.destroy()
    await until(async () => (await figure('holdings_working')) === 0)
    expect(await figure('holdings_making_bytes')).toBe(0)
    expect(await figure('holdings_cancelled_total')).toBeGreaterThanOrEqual(before + 3)
  }, 120_000)

  test('a reader of a whole list that takes next to nothing is cut, without the line of a whole list', async () => {
    const { hostname, port, host } = new URL(api.url)
    const socket = connect(Number(port), hostname)
    let text = ''
    let isCut = false
    socket.on('error', () => undefined)
    socket.on('data', data => {
      text += data.toString('latin1')
      if (isCut) return
      // Takes a little, and is never quite still.
      socket.pause()
      setTimeout(() => socket.resume(), 300)
    })
    const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
    const headers = [`Host: ${host}`, `X-API-Key: ${attacker}`, 'Accept: application/x-ndjson', 'Connection: close']
    socket.write(`GET /api/v2.2/nft/${apes}/owners?chain=eth HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
    const cut = /almanac_streams_cut_total\{reason="slow"\} 1/
    await until(async () => cut.test(await (await api.get('/metrics')).text()))
    expect(await figure('streams_open')).toBe(0)
    // What the system has kept for it comes at once.
    isCut = true
    socket.resume()
    await closed
    expect(text).toContain('token_id')
    expect(text).not.toContain('"complete":true')
  }, 120_000)

  test('a reader that leaves gives its place and its memory back', async () => {
    const leave = async (accept: string) => {
      const headers = { 'x-api-key': attacker, accept }
      const request = get(`${api.url}/api/v2.2/nft/${apes}/owners?chain=eth&at_block=${head - 1}`, { headers })
      request.on('error', () => undefined)
      await new Promise<void>(resolve => request.once('response', () => resolve()))
      expect(await figure('streams_open')).toBe(1)
      request.destroy()
      await until(async () => (await figure('streams_open')) === 0)
    }
    await leave('text/csv')
    await leave('application/x-ndjson')
    expect(await figure('holdings_making_bytes')).toBe(0)
  }, 120_000)
})
