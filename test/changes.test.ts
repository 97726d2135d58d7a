// Changes over HTTP: pages that go on from their positions, long polling, the stream over a restart of the server, what
// is gone, what is refused, and how many may listen.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventSource } from 'eventsource'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as schemas from '../src/api/schemas.ts'
import { issueKey } from '../src/keys/keys.ts'
import { ledgerId } from '../src/ledgers.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { HotBlock, Store } from '../src/store/store.ts'
import { addBlocks, block, contract, eth, fillChain, other, wallet, withRow } from './changes-world.ts'
import { type ServedApi, serveApi } from './served-api.ts'

type Change = { id: string; state: string; kind: string; block_number: number; block_hash: string; data: object }
type Page = { changes: Change[]; next: string; more: boolean }

let folder: string
let store: Store
let api: ServedApi
let stopping: AbortController

async function serve(port = 0): Promise<void> {
  stopping = new AbortController()
  api = await serveApi({ store, serve: { port }, parts: { stopping: stopping.signal } })
}

/** As a service ends: who listens goes first. */
async function stop(): Promise<void> {
  stopping.abort()
  await api.close()
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-changes-'))
  store = await openStore(`file:${join(folder, 'store.db')}`, { role: 'owner' })
  await fillChain(store)
  await serve()
})
afterEach(async () => {
  await stop()
  await store.close()
  await rm(folder, { recursive: true })
})

const commitHot = (ancestor: number, blocks: HotBlock[]) => addBlocks(store, ancestor, blocks)

async function page(query: string): Promise<Page> {
  const answer = await api.get(`/changes?chain=eth&${query}`)
  const body = (await answer.json()) as { message?: string }
  expect([answer.status, body.message]).toEqual([200, undefined])
  return schemas.changes.parse(body) as Page
}

const told = ({ changes }: Page) => changes.map(({ state, block_number }) => `${state} ${block_number}`)

test('a page goes on from the position of the one before, through a reorganisation and finality', async () => {
  const first = await page(`contract=${contract}&from_block=9&limit=2`)
  expect(told(first)).toEqual(['final 9', 'seen 10'])
  expect(first.more).toBe(true)
  const second = await page(`contract=${contract}&after=${first.next}`)
  expect([told(second), second.more]).toEqual([['seen 11'], false])
  await commitHot(9, [withRow(10, 1), withRow(11, 1)])
  await store.putChainState(eth, { finalized: 10 })
  const third = await page(`contract=${contract}&after=${second.next}`)
  expect(told(third)).toEqual(['retracted 11', 'retracted 10', 'final 10', 'seen 11'])
  // An id is of a place in a block, whatever happens to it.
  expect(third.changes[0]!.id).toBe(second.changes[0]!.id)
  expect(third.changes[1]!.id).toBe(first.changes[1]!.id)
  expect(third.changes[2]!.id).not.toBe(first.changes[1]!.id)
  expect(told(await page(`contract=${contract}&after=${third.next}`))).toEqual([])
  await store.putChainState(eth, { finalized: 11 })
  const last = await page(`contract=${contract}&after=${third.next}`)
  expect(last.changes.map(({ id, state }) => [id, state])).toEqual([[third.changes[3]!.id, 'final']])
  const list = (await (await api.get(`/api/v2.2/nft/${contract}/transfers?chain=eth&from_block=11`)).json()) as {
    result: object[]
  }
  expect(last.changes[0]).toMatchObject({ kind: 'nft_transfer', chain: 'eth', data: list.result[0] })
})

test('every filter finds the same rows, and from now on nothing of before', async () => {
  const all = ['', `wallet=${wallet}`, `contract=${contract}&wallet=${other}`, `contract=${contract}`]
  for (const filter of all)
    expect(told(await page(`${filter}&from_block=9`))).toEqual(['final 9', 'seen 10', 'seen 11'])
  expect(told(await page(`contract=${contract}&token_id=10&from_block=9`))).toEqual(['seen 10'])
  expect(told(await page(`wallet=${contract}&from_block=9`))).toEqual([])
  expect(told(await page(`finality=final&from_block=9`))).toEqual(['final 9'])
  const now = await page('')
  expect(told(now)).toEqual([])
  await commitHot(11, [withRow(12)])
  expect(told(await page(`after=${now.next}`))).toEqual(['seen 12'])
})

test('a request that waits is answered with the first change, and without one at the end', async () => {
  const { next } = await page('')
  const waiting = page(`after=${next}&wait=30`)
  await new Promise(resolve => setTimeout(resolve, 300))
  await commitHot(11, [withRow(12)])
  expect(told(await waiting)).toEqual(['seen 12'])
  const startedMs = performance.now()
  expect(told(await page('wait=1'))).toEqual([])
  expect(performance.now() - startedMs).toBeGreaterThan(900)
})

test('a key has so many listeners, and gets their places back', async () => {
  const left = new AbortController()
  const many = Array.from({ length: 64 }, () =>
    fetch(`${api.url}/changes?chain=eth&wait=30`, { headers: { 'x-api-key': api.key }, signal: left.signal }).catch(
      () => undefined,
    ),
  )
  await expect.poll(async () => (await api.get('/changes?chain=eth&wait=1')).status).toBe(429)
  left.abort()
  await Promise.all(many)
  await expect.poll(async () => (await api.get('/changes?chain=eth&wait=1')).status, { timeout: 5_000 }).toBe(200)
})

test('a stream goes on where it was after the server was started again', { timeout: 30_000 }, async () => {
  const heard: string[] = []
  const { key, url } = api
  const source = new EventSource(`${url}/changes?chain=eth&from_block=9`, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init!.headers, 'x-api-key': key } }),
  })
  try {
    source.addEventListener('change', ({ data }) => {
      const { state, block_number } = JSON.parse(data)
      heard.push(`${state} ${block_number}`)
    })
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual(['final 9', 'seen 10', 'seen 11'])
    await commitHot(10, [withRow(11, 1)])
    await expect.poll(() => heard.slice(3), { timeout: 10_000 }).toEqual(['retracted 11', 'seen 11'])
    await stop()
    await serve(Number(new URL(url).port))
    await commitHot(11, [withRow(12)])
    await store.putChainState(eth, { finalized: 11 })
    await expect.poll(() => heard.slice(5), { timeout: 15_000 }).toEqual(['final 10', 'final 11', 'seen 12'])
  } finally {
    source.close()
  }
})

test('what was taken back of final blocks is gone: 410 with where to go on, and an event of a stream', async () => {
  const { next } = await page('from_block=8')
  await store.dropRange(eth, 'full', { from: 9, to: 9 })
  const gone = await api.get(`/changes?chain=eth&after=${next}`)
  const { code, details } = (await gone.json()) as { code: string; details: { from_block: number; next: string } }
  expect([gone.status, code, details.from_block]).toEqual([410, 'position_gone', 9])
  const stream = await api.get(`/changes?chain=eth`, { accept: 'text/event-stream', 'last-event-id': next })
  const text = await firstFrames(stream, 'from_block')
  expect(text).toMatch(/^retry: \d+\n\nevent: gone\nid: \S+\ndata: {"from_block":9}\n\n/)
  expect(told(await page(`after=${details.next}`))).toEqual([])
  await store.commitCold({
    ...{ chain: eth, blocks: [block(9)], activity: noActivity, transfers: withRow(9).transfers },
    covered: [{ scope: 'full', from: 9, to: 9, evidence: 'receipts-root' }],
    ranges: [{ from: 9, to: 9, hash: block(9).hash }],
  })
  expect(told(await page(`after=${details.next}`))).toEqual(['final 9', 'seen 10', 'seen 11'])
})

test('what is gone of one kind is told anew of every kind: a client forgets all of them', async () => {
  await fillChain(store, ledgerId(eth, 'erc20'))
  const filter = `contract=${contract}&kinds=nft_transfer,erc20_transfer`
  const { next } = await page(`${filter}&from_block=9`)
  await store.dropRange(eth, 'full', { from: 9, to: 9 })
  const gone = await api.get(`/changes?chain=eth&${filter}&after=${next}`)
  const { details } = (await gone.json()) as { details: { from_block: number; next: string } }
  expect([gone.status, details.from_block]).toEqual([410, 9])
  const again = await page(`${filter}&after=${details.next}`)
  expect(again.changes.map(({ kind, state, block_number }) => `${kind} ${state} ${block_number}`)).toEqual([
    'erc20_transfer final 9',
    'erc20_transfer seen 10',
    'erc20_transfer seen 11',
  ])
})

async function firstFrames(stream: Response, until: string): Promise<string> {
  let text = ''
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes(until)) break
  }
  return text
}

test('a key that is revoked ends its stream', async () => {
  const { key, secret } = await issueKey(store, { name: 'listener', scopes: ['changes'] })
  const stream = await api.get('/changes?chain=eth', { accept: 'text/event-stream', 'x-api-key': secret })
  await store.endKey(key.id, { revokedAt: Date.now() })
  expect(await stream.text()).toMatch(/^retry: \d+\n\n/)
})

test.each([
  ['', 'chain is missing'],
  ['chain=nowhere', 'chain must be a valid enum value'],
  ['chain=eth&token_id=1', 'contract is missing'],
  [`chain=eth&contract=${contract}&token_id=1&kinds=erc20_transfer`, 'kinds must be nft_transfer with token_id'],
  ['chain=eth&kinds=erc20_transfer', 'The ERC-20 tokens of eth are indexed on demand: name one as contract'],
  ['chain=eth&kinds=sale', 'kinds must be nft_transfer or erc20_transfer, not "sale"'],
  [`chain=eth&wallet=0x${'0'.repeat(40)}`, 'wallet must be a wallet; transfers of the zero address are not kept'],
  ['chain=eth&after=nonsense', 'after must be the next of an earlier answer to the same question'],
  ['chain=eth&after=nonsense&from_block=1', 'from_block must be left out where after is given'],
])('%s is refused: %s', async (query, message) => {
  const answer = await api.get(`/changes?${query}`)
  expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([400, message])
})

test('a position of another question, and a key without the scope, are refused', async () => {
  const { next } = await page(`contract=${contract}`)
  const answer = await api.get(`/changes?chain=eth&after=${next}`)
  expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
    400,
    'after is of another chain or of other filters',
  ])
  const { secret } = await issueKey(store, { name: 'holdings', scopes: ['nft-holdings'] })
  expect((await api.get('/changes?chain=eth', { 'x-api-key': secret })).status).toBe(403)
})
