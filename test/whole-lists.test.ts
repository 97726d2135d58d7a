// Whole lists of transfers as CSV and NDJSON: the rows of all pages, of one block, with a last line only where that is
// so.
import { statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { lentBytes } from '../src/api/answer-memory.ts'
import { issueKey } from '../src/keys/keys.ts'
import { createMetrics } from '../src/metrics.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { CsvRows } from '../src/tools/lists/csv-rows.ts'
import { fillListed, hot, row } from './listed-transfers.ts'
import { alice, apes, art, blockOf, bob, chain, coins, hashOf } from './plain-rows.ts'
import { type ServedApi, type ServedApiOptions, serveApi } from './served-api.ts'

/** Other tests may leave pages to be collected. */
const lentBefore = lentBytes()
let api: ServedApi
let close: (() => Promise<void>) | undefined
let metrics: ReturnType<typeof createMetrics>
/** Called before each read of rows. */
let onRead: (nth: number) => Promise<unknown> | undefined = () => undefined

async function serve(options: ServedApiOptions = {}): Promise<void> {
  await close?.()
  metrics = createMetrics()
  let reads = 0
  api = await serveApi({
    fill: fillListed,
    ...options,
    wrap: store => ({
      ...store,
      transferPage: async query => {
        await onRead(++reads)
        return await store.transferPage(query)
      },
      indexes: {
        ...store.indexes,
        transfersAt: async (...places) => {
          await onRead(++reads)
          return await store.indexes.transfersAt(...places)
        },
      },
    }),
    parts: { metrics, rowsPerBatch: 3, ...options.parts },
  })
  close = api.close
}

afterEach(async () => {
  onRead = () => undefined
  await close?.()
  close = undefined
  expect(lentBytes()).toBe(lentBefore)
})

const ndjson = { accept: 'application/x-ndjson' }
const csv = { accept: 'text/csv' }

/** What arrived of a body, and whether it broke off. */
async function received(response: Response): Promise<{ text: string; isCut: boolean }> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const piece of response.body!) text += decoder.decode(piece, { stream: true })
    return { text, isCut: false }
  } catch {
    return { text, isCut: true }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers as clients see them.
const jsonOf = async (response: Response): Promise<any> => await response.json()

async function allPages(path: string, query: string, headers: Record<string, string>): Promise<object[]> {
  const rows: object[] = []
  for (let target = `${path}?limit=2${query}`; ; ) {
    const answer = await jsonOf(await api.get(target, headers))
    rows.push(...answer.result)
    if (!answer.cursor) return rows
    target = `${path}?cursor=${answer.cursor}`
  }
}

const cutBy = async (reason: string): Promise<number> => {
  const { values } = await metrics.streams.cut.get()
  return values.find(({ labels }) => labels.reason === reason)?.value ?? 0
}
const open = async () => (await metrics.streams.open.get()).values[0]?.value ?? 0

const lists: [path: string, query: string][] = [
  [`/nft/${art}/transfers`, ''],
  [`/nft/${apes}/transfers`, '&format=hex&to_block=14'],
  [`/nft/${art}/transfers`, '&order=ASC'],
  [`/${alice}/nft/transfers`, ''],
  [`/${bob}/nft/transfers`, '&direction=from'],
  [`/nft/${apes}/1/transfers`, '&order=ASC'],
  [`/nft/${art}/103/transfers`, ''],
  ['/block/12/nft/transfers', ''],
  ['/nft/transfers', '&order=ASC'],
  ['/nft/transfers', '&from_block=11&to_block=20'],
]

describe('a whole list', () => {
  test('has the rows of all pages in both forms and dialects', async () => {
    await serve()
    for (const base of ['/api/v2', '/api/v2.2']) {
      for (const [path, query] of lists) {
        const rows = await allPages(base + path, query, {})
        expect(rows.length, path).toBeGreaterThan(1)
        const target = `${base}${path}?${query.slice(1)}`
        const block = path.startsWith('/block') ? 12 : Number(/to_block=(\d+)/.exec(query)?.[1] ?? 21)
        const lines = await api.get(target, ndjson)
        expect(lines.headers.get('content-type')).toBe('application/x-ndjson')
        expect(lines.headers.get('x-block-number')).toBe(`${block}`)
        expect(lines.headers.get('x-index-complete')).toBe('true')
        expect(lines.headers.get('x-index-evidence')).toBe('receipts-root')
        expect(lines.headers.get('x-dialect')).toBe(base === '/api/v2' ? 'reference' : 'live')
        expect(lines.headers.get('vary')).toContain('Accept,')
        const end = `{"complete":true,"rows":${rows.length},"block":${block}}\n`
        // The texts are compared, and with them the order of fields.
        expect(await lines.text(), target).toBe(rows.map(each => `${JSON.stringify(each)}\n`).join('') + end)

        const table = await api.get(target, csv)
        expect(table.headers.get('content-type')).toBe('text/csv; charset=utf-8')
        const text = await table.text()
        expect(text).toContain(`\n# complete rows=${rows.length} block=${block}\n`)
        const parsed = new CsvRows().push(text).map(each => ('fields' in each ? each.fields : []))
        expect(parsed[0]).toEqual(Object.keys(rows[0]!))
        expect(parsed.slice(1, -1)).toEqual(rows.map(each => Object.values(each).map(value => `${value ?? ''}`)))
      }
    }
  })

  test('that is empty has its header and its last line', async () => {
    await serve()
    const target = `/api/v2/nft/${coins}/transfers?to_block=3`
    expect(await (await api.get(target, csv)).text()).toMatch(/^block_number,.*\n# complete rows=0 block=3\n$/)
    expect(await (await api.get(target, ndjson)).text()).toBe('{"complete":true,"rows":0,"block":3}\n')
    // Of a chain that is not indexed nothing is known.
    const unknown = await api.get('/api/v2/nft/transfers?chain=polygon', ndjson)
    expect(unknown.headers.get('x-index-complete')).toBe('false')
    expect(await unknown.text()).toBe('{"complete":true,"rows":0,"block":0}\n')
    const head = await api.get(target, csv, 'HEAD')
    expect([head.status, head.headers.get('x-block-number'), await open()]).toEqual([200, '3', 0])
  })

  test('has no pages', async () => {
    await serve()
    for (const parameter of ['cursor', 'limit']) {
      const answer = await api.get(`/api/v2/nft/transfers?${parameter}=5`, csv)
      expect(answer.status).toBe(400)
      expect((await jsonOf(answer)).details.parameter).toBe(parameter)
    }
    expect((await api.get('/api/v2/nft/transfers?limit=&cursor=', csv)).headers.get('content-type')).toContain('csv')
    expect(
      (await api.get('/api/v2/nft/transfers', { accept: 'text/csv, application/json' })).headers.get('etag'),
    ).toMatch(/./)
  })

  test('takes longer than a request may', async () => {
    await serve({ settings: { requestTimeoutMs: 50 } })
    onRead = nth => (nth === 2 ? delay(120) : undefined)
    expect(await (await api.get('/api/v2/nft/transfers', csv)).text()).toContain('# complete')
  })

  test('begins later than an answer may', async () => {
    const short = { requestTimeoutMs: 50 }
    await serve({ settings: short, serve: { ...short, stallTimeoutMs: 50 } })
    onRead = nth => (nth === 1 ? delay(300) : undefined)
    expect(await (await api.get('/api/v2/nft/transfers', csv)).text()).toContain('# complete')
    onRead = () => delay(300)
    const gone = new AbortController()
    await fetch(`${api.url}/api/v2/nft/transfers`, { headers: { ...csv, 'x-api-key': api.key }, signal: gone.signal })
    expect(await open()).toBe(1)
    gone.abort()
    await vi.waitFor(async () => expect(await open()).toBe(0), { timeout: 60_000 })
  })
})

const otherBranch = (store: Store) => {
  const blocks = [20, 21].map(number => ({
    ...{ ...blockOf(number), hash: hashOf(0xbad0 + number), activity: noActivity },
    transfers: hot.filter(({ block }) => block === number),
  }))
  return store.commitHot({ chain, ancestor: 19, blocks, head: blocks[1]! })
}

/** Asks for lists, and has something happen when each has sent its first batch. */
async function changedMeanwhile(asked: readonly (typeof lists)[number][], change: () => Promise<unknown>) {
  const go = Promise.withResolvers<void>()
  let [allowed, waiting] = [0, 0]
  onRead = () => {
    if (allowed-- > 0) return undefined
    waiting++
    return go.promise
  }
  const responses: Response[] = []
  for (const [path, query] of asked) {
    allowed = 1
    responses.push(await api.get(`/api/v2.2${path}?${query.slice(1)}`, ndjson))
    await vi.waitFor(() => expect(waiting).toBe(responses.length), { timeout: 60_000 })
  }
  await change()
  go.resolve()
  return await Promise.all(responses.map(received))
}

describe('the last line', () => {
  test.each([
    ['another branch', otherBranch],
    [
      'another branch that became final',
      async (store: Store) => {
        await otherBranch(store)
        await store.putChainState(chain, { finalized: 21 })
      },
    ],
    ['a shorter branch', (store: Store) => store.commitHot({ chain, ancestor: 19, blocks: [], head: blockOf(19) })],
    ['rows taken away', (store: Store) => store.dropRange(chain, apes, { from: 10, to: 10 })],
    ['finality taken back', (store: Store) => store.unfinalize(chain, 14)],
  ])('does not come after %s', async (_, change) => {
    await serve()
    const bodies = await changedMeanwhile([lists[2]!, lists[3]!, lists[5]!, lists[8]!], () => change(api.store))
    for (const { text, isCut } of bodies) expect([isCut, text.includes('complete')]).toEqual([true, false])
    expect(await cutBy('changed')).toBe(bodies.length)
    expect(api.logged.join()).toContain('Stream cut')
  })

  test.each([
    [
      'another block',
      (store: Store) => {
        const block = { ...blockOf(22), transfers: [row(apes, [22, 0, 0], { tokenId: 1n })], activity: noActivity }
        return store.commitHot({ chain, ancestor: 21, blocks: [block], head: blockOf(22) })
      },
    ],
    ['the end of all doubt', (store: Store) => store.putChainState(chain, { finalized: 21 })],
  ])('comes after %s, without rows of later blocks', async (_, change) => {
    await serve()
    const asked = [lists[2]!, lists[5]!, lists[8]!]
    const rows = await Promise.all(asked.map(([path, query]) => allPages(`/api/v2.2${path}`, query, {})))
    const bodies = await changedMeanwhile(asked, () => change(api.store))
    for (const [at, { text }] of bodies.entries())
      expect(text).toContain(`{"complete":true,"rows":${rows[at]!.length},"block":21}`)
  })

  test('does not come where the index was left', async () => {
    await serve()
    const bodies = await changedMeanwhile([lists[3]!, lists[5]!, lists[8]!], async () => {
      await api.store.keepIndexes(chain, [], 1)
      while (await api.store.keepIndexes(chain, undefined, 10));
    })
    for (const { text, isCut } of bodies) expect([isCut, text.includes('complete')]).toEqual([true, false])
    expect(await cutBy('changed')).toBe(bodies.length)
  })

  test('gives way to 503 where the list changed before its first row', async () => {
    await serve()
    onRead = () => api.store.dropRange(chain, apes, { from: 10, to: 10 })
    const answer = await api.get(`/api/v2.2/nft/${coins}/transfers?to_block=3`, ndjson)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await jsonOf(answer)).toMatchObject({ code: 'stream_cut', message: expect.stringContaining('taken away') })
    expect([await open(), await cutBy('changed')]).toEqual([0, 0])
  })

  test('does not come from a service that stops', async () => {
    await serve({ settings: { drainTimeoutMs: 30 }, serve: { drainTimeoutMs: 30 } })
    const go = Promise.withResolvers<void>()
    onRead = nth => (nth === 2 ? go.promise : undefined)
    const response = await api.get('/api/v2/nft/transfers', csv)
    const ended = received(response)
    const closing = api.close()
    close = undefined
    const { text, isCut } = await ended
    expect([isCut, text.includes('complete')]).toEqual([true, false])
    go.resolve()
    await closing
    await vi.waitFor(async () => expect(await cutBy('disconnected')).toBe(1), { timeout: 60_000 })
  })
})

describe('limits', () => {
  test('hold in all and for each key, and places are free again after the end', async () => {
    await serve({ settings: { streamsMax: 3 }, parts: { rowsPerBatch: 1 } })
    const keys = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async name => (await issueKey(api.store, { name, scopes: ['nft-transfers'] })).secret),
    )
    const ask = (at: number) => api.get('/api/v2/nft/transfers', { ...csv, 'x-api-key': keys[at]! })
    const gone = new AbortController()
    let reads = 0
    const go = Promise.withResolvers<void>()
    onRead = () => (++reads > 3 ? go.promise : undefined)
    const taken = [
      await fetch(`${api.url}/api/v2/nft/transfers`, {
        headers: { ...csv, 'x-api-key': keys[0]! },
        signal: gone.signal,
      }),
    ]
    const second = await ask(0)
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '10'])
    expect((await jsonOf(second)).details.limit).toBe('1 whole lists at once')
    reads = 0
    taken.push(await ask(1))
    reads = 0
    taken.push(await ask(2))
    const more = await ask(3)
    expect([more.status, more.headers.get('retry-after'), (await jsonOf(more)).code]).toEqual([503, '10', 'overloaded'])
    expect(await open()).toBe(3)
    // What is read for a client that went away is read to its end, and takes its place until then.
    gone.abort()
    await delay(50)
    expect(await open()).toBe(3)
    go.resolve()
    for (const response of taken.slice(1)) expect((await received(response)).text).toContain('# complete')
    await vi.waitFor(async () => expect(await open()).toBe(0), { timeout: 60_000 })
    expect((await ask(3)).status).toBe(200)
    await vi.waitFor(async () => expect(await cutBy('disconnected')).toBe(1), { timeout: 60_000 })
  })

  test('count rows as requests of the key, and cut a list whose quota ends', async () => {
    await serve({ settings: { pageSizeMax: 2 } })
    const limits = { quotaPerDay: 13, ratePerSecond: 3 }
    const { secret } = await issueKey(api.store, { name: 'counted', scopes: ['nft-transfers'], ...limits })
    const ask = () => api.get('/api/v2/nft/transfers', { ...csv, 'x-api-key': secret })
    // 19 rows, two of which are one request.
    expect((await received(await ask())).text).toContain('# complete rows=19')
    const { text, isCut } = await received(await ask())
    expect([isCut, text.split('\n').length, text.includes('complete')]).toEqual([true, 8, false])
    expect(await cutBy('key')).toBe(1)
    expect((await jsonOf(await ask())).code).toBe('quota_exceeded')
  })

  test('a key that is revoked gets no more rows', async () => {
    await serve({ settings: { pageSizeMax: 1 } })
    const {
      key: { id },
      secret,
    } = await issueKey(api.store, { name: 'revoked', scopes: ['nft-transfers'] })
    onRead = async nth => {
      if (nth !== 2) return
      await api.store.endKey(id, { revokedAt: Date.now() })
      await delay(800)
    }
    const { isCut } = await received(await api.get('/api/v2/nft/transfers', { ...csv, 'x-api-key': secret }))
    expect([isCut, await cutBy('key')]).toEqual([true, 1])
  })
})

describe('a reader that is slow', () => {
  const many = 20_000
  const fillMany = async (store: Store) => {
    const transfers = Array.from({ length: many }, (_, at) => row(apes, [at, 0, 0], { tokenId: BigInt(at), to: alice }))
    await store.commitCold({
      ...{ chain, transfers, activity: noActivity },
      covered: [{ scope: 'transfers', from: 0, to: many, evidence: 'receipts-root' }],
      blocks: [...transfers.keys(), many].map(blockOf),
    })
    await store.putChainState(chain, { head: blockOf(many) })
  }
  const ask = (): Socket => {
    const { hostname, port } = new URL(api.url)
    const socket = connect(Number(port), hostname).pause()
    socket.write(
      `GET /api/v2/nft/${apes}/transfers HTTP/1.1\r\nHost: a\r\nX-API-Key: ${api.key}\r\nAccept: application/x-ndjson\r\nConnection: close\r\n\r\n`,
    )
    return socket
  }

  test('holds little memory and no read, and gets all of it', async () => {
    await serve({ fill: fillMany, parts: { rowsPerBatch: 1_000 } })
    let reads = 0
    onRead = async () => void reads++
    const socket = ask()
    // Until the system takes no more for the client.
    for (let before = -1; before !== reads || reads === 0; await delay(50)) before = reads
    expect(reads).toBeLessThan(many / 1_000)
    expect(lentBytes() - lentBefore).toBeLessThanOrEqual(2 * 1024 * 1024)
    const file = api.store.location.replace(/^file:/, '')
    for (let block = many + 1; block < many + 20; block++) {
      const covered = [{ scope: 'transfers', from: block, to: block, evidence: 'receipts-root' } as const]
      const transfers = [row(apes, [block, 0, 0], { tokenId: BigInt(block), to: alice })]
      await api.store.commitCold({ chain, covered, transfers, blocks: [blockOf(block)], activity: noActivity })
    }
    await api.store.takeInLog!()
    expect(statSync(`${file}-wal`).size).toBe(0)
    let text = ''
    for await (const piece of socket.resume()) text += piece
    expect(text).toContain(`{"complete":true,"rows":${many},"block":${many}}\n`)
  })

  test('is cut once it takes nothing for long', async () => {
    await serve({
      fill: fillMany,
      parts: { rowsPerBatch: 1_000 },
      serve: { stallTimeoutMs: 100, requestTimeoutMs: 50 },
    })
    const socket = ask().on('error', () => undefined)
    await vi.waitFor(async () => expect(await cutBy('stalled')).toBe(1), { timeout: 2_000 })
    await vi.waitFor(async () => expect(await open()).toBe(0), { timeout: 60_000 })
    socket.destroy()
  })
})
