// Webhooks from their creation to the last attempt: what a receiver is sent and how it is signed, retries and pauses,
// who may see and change them, what they may not reach, and what a copy and a restored backup make of them.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { attempt, reachRules } from '../src/api/evm/webhooks/delivery.ts'
import * as schemas from '../src/api/evm/webhooks/schemas.ts'
import { WebhookSender } from '../src/api/evm/webhooks/sender.ts'
import { webhookStatusOf } from '../src/api/evm/webhooks/shown-webhook.ts'
import { ChainTable } from '../src/chains.ts'
import type { FetchRules } from '../src/guarded-fetch.ts'
import { issueKey, type Scope } from '../src/keys/keys.ts'
import { rotateKey } from '../src/keys/rotate-key.ts'
import { createLog } from '../src/log.ts'
import { createWebhookMetrics } from '../src/metrics.ts'
import { KnownLabels } from '../src/query/known-labels.ts'
import { transferReads } from '../src/query/nft-transfers.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { addBlocks, contract, fillChain, withRow } from './changes-world.ts'
import { type ServedApi, serveApi } from './served-api.ts'
import { thorough } from './thorough.ts'
import { type Receiver, ReceiverServer } from './webhook-receiver.ts'

type Issued = { id: string; secret: string; position: string; state: string }

let folder: string
let store: Store
let api: ServedApi
let server: ReceiverServer
let sender: WebhookSender | undefined
let aheadMs = 0
const logged: string[] = []
const webhooks = { allowPrivate: true, allowHttp: true, maxPerKey: 3 }

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-webhooks-'))
  store = await openStore(`file:${join(folder, 'store.db')}`, { role: 'owner' })
  await fillChain(store)
  const status = async () => ({ chains: {}, solana: {}, webhooks: await webhookStatusOf(store, new ChainTable()) })
  api = await serveApi({ store, settings: { webhooks }, parts: { status } })
  server = await ReceiverServer.open()
  aheadMs = 0
  logged.length = 0
})
afterEach(async () => {
  await sender?.close()
  sender = undefined
  await server.close()
  await api.close()
  await store.close()
  await rm(folder, { recursive: true })
  expect(server.failures).toEqual([])
})

function send(rules: FetchRules = reachRules(webhooks)): void {
  sender = new WebhookSender({
    ...{ store, chains: new ChainTable(), dialect: 'live', rules, metrics: createWebhookMetrics(), leaseMs: 1_000 },
    reads: transferReads(store, new KnownLabels(store, () => store.revision())),
    log: createLog({ level: 'debug', format: 'json', write: line => logged.push(line) }),
    holder: 'this process',
    nowMs: () => Date.now() + aheadMs,
  })
}

async function ask(method: string, path: string, body?: object, key = api.key) {
  const answer = await fetch(api.url + path, {
    method,
    headers: { 'x-api-key': key },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> & { message?: string } }
}

/** A webhook, and its receiver at the same path. */
async function listen(filter: object = {}, key = api.key): Promise<Issued & { receiver: Receiver }> {
  const receiver = server.add(`/${Math.random()}`)
  const made = await ask('POST', '/webhooks', { url: server.url + receiver.path, chain: 'eth', ...filter }, key)
  expect([made.status, made.body.message]).toEqual([201, undefined])
  const issued = schemas.issuedWebhook.parse(made.body)
  receiver.secret = issued.secret
  return { ...issued, receiver }
}

const details = async (id: string) => schemas.webhookDetails.parse((await ask('GET', `/webhooks/${id}`)).body)
const delivered = (receiver: Receiver, states: string[]) =>
  expect.poll(() => receiver.states, { timeout: 5_000 }).toEqual(states)

test('a receiver is told what is seen, retracted and final, in order, and its position goes on in GET /changes', async () => {
  const { id, receiver } = await listen({ contract, from_block: 9 })
  send()
  await delivered(receiver, ['final 9', 'seen 10', 'seen 11'])
  await addBlocks(store, 9, [withRow(10, 1), withRow(11, 1)])
  await delivered(receiver, ['final 9', 'seen 10', 'seen 11', 'retracted 11', 'retracted 10', 'seen 10', 'seen 11'])
  await store.putChainState(1 as never, { finalized: 10 })
  await expect.poll(() => receiver.states.at(-1)).toBe('final 10')
  const last = receiver.requests.at(-1)!.body
  expect(last).toMatchObject({ type: 'changes', webhook: id, chain: 'eth' })
  await expect
    .poll(async () => (await details(id)).lag_seconds === 0 && (await details(id)).position)
    .toBe('position' in last && last.position)
  const { position, deliveries, state } = await details(id)
  expect([state, deliveries.map(({ status, changes }) => [status, changes])]).toEqual([
    'active',
    [
      [204, 1],
      [204, 4],
      [204, 3],
    ],
  ])
  // The same rows as those of GET /changes, which goes on from there.
  const page = (await ask('GET', `/changes?chain=eth&contract=${contract}&from_block=10`)).body.changes as object[]
  const told = receiver.requests.flatMap(({ body }) => (body.type === 'changes' ? body.changes : []))
  expect(told).toContainEqual(page[0])
  await addBlocks(store, 11, [withRow(12)])
  const further = (await ask('GET', `/changes?chain=eth&contract=${contract}&after=${position}`)).body.changes
  await expect.poll(() => receiver.requests.at(-1)!.body).toMatchObject({ changes: further as object })
})

test('a batch that fails is sent again with the same id, by another sender too', async () => {
  const { id, receiver } = await listen({ from_block: 10 })
  receiver.behaviour = 'fails'
  send()
  await expect.poll(() => receiver.requests.length).toBe(1)
  await expect.poll(async () => (await details(id)).state).toBe('retrying')
  const { reason, attempts, next_attempt_at } = await details(id)
  expect([reason, attempts]).toEqual(['The receiver answered 500', 1])
  expect(Date.parse(next_attempt_at!) - Date.now()).toBeGreaterThan(1_000)
  await sender!.close()
  // Meanwhile the chain goes on; the batch stays.
  await addBlocks(store, 11, [withRow(12)])
  receiver.behaviour = 'ok'
  aheadMs = 60_000
  send()
  await delivered(receiver, ['seen 10', 'seen 11', 'seen 10', 'seen 11', 'seen 12'])
  expect(receiver.requests[1]!.text).toBe(receiver.requests[0]!.text)
  expect(receiver.requests[1]!.id).toBe(receiver.requests[0]!.id)
  expect(receiver.requests[2]!.id).not.toBe(receiver.requests[0]!.id)
})

thorough('what a process that was killed had sent is sent again with the same id', { timeout: 60_000 }, async () => {
  const { receiver } = await listen({ from_block: 9 })
  const location = `file:${join(folder, 'store.db')}`
  const child = fork(fileURLToPath(new URL('webhook-sender-child.ts', import.meta.url)), [location, '1000'])
  receiver.behaviour = 'hangs'
  await expect.poll(() => receiver.requests.length, { timeout: 30_000 }).toBe(1)
  const killed = once(child, 'exit')
  child.kill('SIGKILL')
  await killed
  receiver.behaviour = 'ok'
  send()
  await delivered(receiver, ['final 9', 'seen 10', 'seen 11', 'final 9', 'seen 10', 'seen 11'])
  expect(receiver.requests[1]!.text).toBe(receiver.requests[0]!.text)
  expect(receiver.requests[1]!.id).toBe(receiver.requests[0]!.id)
})

test('where the branch moved meanwhile, what may have arrived is retracted in a new batch', async () => {
  const { receiver } = await listen({ from_block: 10 })
  receiver.behaviour = 'lost'
  send()
  await expect.poll(() => receiver.requests.length).toBe(1)
  await sender!.close()
  await addBlocks(store, 10, [withRow(11, 1)])
  receiver.behaviour = 'ok'
  aheadMs = 60_000
  send()
  await delivered(receiver, ['seen 10', 'seen 11', 'retracted 11', 'seen 10', 'seen 11'])
  const ids = receiver.requests.map(({ id }) => id)
  expect(ids[1]).not.toBe(ids[0])
})

test('what is gone is told, and what holds instead', async () => {
  const { receiver } = await listen({ from_block: 8 })
  send()
  await delivered(receiver, ['final 8', 'final 9', 'seen 10', 'seen 11'])
  await store.dropRange(1 as never, 'full', { from: 9, to: 9 })
  await expect.poll(() => receiver.requests.at(-1)!.body).toMatchObject({ type: 'gone', from_block: 9 })
})

test('a receiver that fails for a day is paused with the reason, and goes on where it was', async () => {
  const { id, receiver } = await listen({ from_block: 10 })
  receiver.behaviour = 'fails'
  send()
  for (let hours = 0; hours <= 25; hours++) {
    await expect.poll(() => receiver.requests.length, { timeout: 5_000 }).toBe(hours + 1)
    await expect.poll(async () => (await details(id)).attempts).toBe(hours + 1)
    aheadMs += 3_600_000
    if ((await details(id)).state === 'paused') break
  }
  expect(await details(id)).toMatchObject({ state: 'paused', reason: 'The receiver answered 500, for a day' })
  expect(new Set(receiver.requests.map(each => each.id)).size).toBe(1)
  const status = (await ask('GET', '/status')).body
  expect(status.webhooks).toMatchObject({ active: 0, stopped: 1, behind: [{ id, state: 'paused' }] })
  expect(status.findings).toContainEqual({
    tone: 'warn',
    text: 'A webhook is paused after failures',
    detail: 'unnamed: The receiver answered 500, for a day',
  })
  const metrics = await (await api.get('/metrics')).text()
  expect(metrics).toContain('almanac_webhooks{state="stopped"} 1')
  receiver.behaviour = 'ok'
  expect((await ask('POST', `/webhooks/${id}/resume`, {})).body).toMatchObject({ state: 'active', attempts: 0 })
  await expect.poll(() => receiver.states.slice(-2)).toEqual(['seen 10', 'seen 11'])
  expect(new Set(receiver.requests.map(each => each.id)).size).toBe(1)
})

test('410 pauses at once; a pause of the owner keeps everything; another position begins there', async () => {
  const { id, receiver } = await listen({ from_block: 11 })
  receiver.behaviour = 'gone'
  send()
  await expect.poll(async () => (await details(id)).state).toBe('paused')
  expect(await details(id)).toMatchObject({ reason: 'The receiver answered 410', attempts: 1 })
  receiver.behaviour = 'ok'
  await ask('POST', `/webhooks/${id}/resume`, { from_block: 10 })
  await delivered(receiver, ['seen 11', 'seen 10', 'seen 11'])
  expect((await ask('PATCH', `/webhooks/${id}`, { paused: true })).body).toMatchObject({ state: 'paused' })
  await new Promise(resolve => setTimeout(resolve, 1_200))
  await addBlocks(store, 11, [withRow(12)])
  await new Promise(resolve => setTimeout(resolve, 300))
  expect(receiver.states).toHaveLength(3)
  await ask('PATCH', `/webhooks/${id}`, { paused: false })
  await expect.poll(() => receiver.states.slice(3), { timeout: 5_000 }).toEqual(['seen 12'])
})

test('both secrets sign while one is rotated; each is shown once', async () => {
  const { id, secret, receiver } = await listen()
  const rotated = await ask('POST', `/webhooks/${id}/rotation`, {})
  const fresh = String(rotated.body.secret)
  expect([rotated.status, fresh === secret, fresh]).toEqual([201, false, expect.stringMatching(/^whsec_/)])
  const answer = await ask('POST', `/webhooks/${id}/test`)
  expect(schemas.webhookTest.parse(answer.body)).toMatchObject({ delivered: true, status: 204, error: null })
  const { text, headers, body } = receiver.requests[0]!
  expect(body).toEqual({ type: 'test', webhook: id, chain: 'eth', changes: [] })
  for (const each of [secret, fresh]) new Webhook(each).verify(text, headers as Record<string, string>)
  await ask('POST', `/webhooks/${id}/rotation`, { grace: '0' })
  receiver.secret = String((await ask('POST', `/webhooks/${id}/rotation`, { grace: '0' })).body.secret)
  await ask('POST', `/webhooks/${id}/test`)
  expect(() => new Webhook(fresh).verify(receiver.requests[1]!.text, receiver.requests[1]!.headers as never)).toThrow()
  const seen = JSON.stringify([await ask('GET', '/webhooks'), await details(id), api.logged, logged])
  expect(seen).not.toMatch(/whsec_[^…]/)
})

test('a key sees and changes its own webhooks, operators see all, and a webhook ends with its key', async () => {
  const keyOf = (name: string, scopes: Scope[]) => issueKey(store, { name, scopes })
  const [one, two] = [await keyOf('one', ['webhooks']), await keyOf('two', ['webhooks'])]
  const looking = await keyOf('ops', ['ops'])
  const client = await keyOf('client', ['nft-transfers', 'wallet-chains', 'portfolio', 'changes'])
  const { id, receiver } = await listen({ from_block: 11 }, one.secret)
  const idsOf = async (secret: string) => {
    const { webhooks } = (await ask('GET', '/webhooks', undefined, secret)).body as {
      webhooks: { id: string; url: string }[]
    }
    return webhooks.map(each => [each.id, each.url.includes(receiver.path)])
  }
  expect(await idsOf(one.secret)).toEqual([[id, true]])
  expect(await idsOf(two.secret)).toEqual([])
  // The path of another key's URL may be its secret.
  expect(await idsOf(looking.secret)).toEqual([[id, false]])
  expect((await ask('GET', '/webhooks', undefined, client.secret)).status).toBe(403)
  expect((await ask('DELETE', `/webhooks/${id}`, undefined, two.secret)).status).toBe(404)
  expect((await ask('DELETE', `/webhooks/${id}`, undefined, looking.secret)).status).toBe(403)
  // Who replaces a key has its webhooks.
  const next = await rotateKey(store, one.key, { graceMs: 0 })
  expect(await idsOf(next.secret)).toEqual([[id, true]])
  send()
  await delivered(receiver, ['seen 11'])
  await store.endKey(next.key.id, { revokedAt: Date.now() })
  await new Promise(resolve => setTimeout(resolve, 1_200))
  await addBlocks(store, 11, [withRow(12)])
  await new Promise(resolve => setTimeout(resolve, 300))
  expect(receiver.states).toEqual(['seen 11'])
  expect(await details(id)).toMatchObject({ state: 'paused', reason: 'Its key was revoked, or has expired' })
  expect((await ask('DELETE', `/webhooks/${id}`)).status).toBe(200)
  expect((await ask('GET', `/webhooks/${id}`)).status).toBe(404)
})

test('a key has so many webhooks', async () => {
  for (let made = 0; made < 3; made++) await listen()
  const { status, body } = await ask('POST', '/webhooks', { url: `${server.url}/x`, chain: 'eth' })
  expect([status, body.message]).toEqual([403, 'This key has 3 webhooks, or there are too many in all'])
})

describe('where webhooks are not allowed to send', () => {
  const strict = reachRules({ allowPrivate: false, allowHttp: false })
  beforeEach(async () => {
    await api.close()
    api = await serveApi({ store, settings: { webhooks: { allowPrivate: false, allowHttp: false, maxPerKey: 100 } } })
  })

  test.each([
    'http://hooks.example/x',
    'ftp://hooks.example/x',
    'https://user:password@hooks.example/x',
    'https://localhost/x',
    'https://metadata.internal/x',
    'https://hooks.example:22/x',
    'nonsense',
    `https://hooks.example/${'x'.repeat(2_048)}`,
  ])('%s is refused at once', async url => {
    const { status, body } = await ask('POST', '/webhooks', { url, chain: 'eth' })
    expect([status, body.code]).toEqual([400, 'bad_request'])
    expect(body.message).toMatch(/^url /)
  })

  const webhook = {
    ...{ id: 'wh_1', keyId: '1', name: '', filter: '', createdAt: 0 },
    ...{ paused: false, secret: 1, oldSecretUntil: undefined },
  }
  const tried = (url: string, rules: FetchRules) =>
    attempt(
      { ...webhook, url },
      { id: 'msg_1', body: Buffer.from('{}'), nowMs: Date.now() },
      { rules, storeSecret: store.secret },
    )

  test.each([
    ...['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1'],
    ...['[::1]', '[fe80::1]', '[fd00::1]', '[::ffff:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[64:ff9b::a00:1]', '[::]'],
    ...['2130706433', '0x7f.1', '017700000001'],
  ])('nothing is sent to https://%s', async host => {
    const done = await tried(`https://${host}/x`, strict)
    expect(done).toMatchObject({ status: undefined, error: expect.stringMatching(/not permitted|no public address/) })
  })

  test('a name that has another address when it is connected to is asked at the one that was checked', async () => {
    let asked = 0
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '::1']]
    const isPublic = (address: string): boolean => address === '127.0.0.2'
    const resolve = async () => answers[asked++ % answers.length]!
    for (const error of [/no public address/, /in time|not be reached/, /no public address/]) {
      const rules = { ...strict, resolve, isPublic, timeoutMs: 300, headersTimeoutMs: 300 }
      expect(await tried('https://rebinds.example/x', rules)).toMatchObject({
        status: undefined,
        error: expect.stringMatching(error),
      })
    }
    // One look for each attempt: what was checked is what is connected to.
    expect(asked).toBe(3)
  })

  test('a redirect is not followed, an endless answer is cut, and one that is not TLS or hangs is given up', async () => {
    const quick = { ...reachRules(webhooks), timeoutMs: 500, headersTimeoutMs: 500 }
    const receiver = server.add('/odd')
    receiver.secret = (await listenQuietly()).secret
    const at = `${server.url}/odd`
    const known = { ...webhook, id: quiet.id, url: at }
    const odd = (behaviour: Receiver['behaviour']) => {
      receiver.behaviour = behaviour
      return attempt(
        known,
        { id: 'msg_1', body: Buffer.from('{"type":"test"}'), nowMs: Date.now() },
        { rules: quick, storeSecret: store.secret },
      )
    }
    const other = server.add('/other')
    expect(await odd(response => response.writeHead(307, { location: `${server.url}/other` }).end())).toMatchObject({
      ...{ status: 307, error: 'The receiver answered 307' },
    })
    expect(other.requests).toEqual([])
    let isOpen = true
    const endless: Receiver['behaviour'] = response => {
      response.once('close', () => {
        isOpen = false
      })
      response.writeHead(200)
      const more = () => {
        if (isOpen && response.write('x'.repeat(65_536))) setImmediate(more)
      }
      response.on('drain', more)
      more()
    }
    expect(await odd(endless)).toMatchObject({ status: 200, error: undefined })
    await expect.poll(() => isOpen).toBe(false)
    expect(await odd('hangs')).toMatchObject({ status: undefined, error: 'The receiver did not answer in time' })
    // Bytes that come one at a time, before TLS is there.
    const slow = createServer(socket => {
      const timer = setInterval(() => socket.write('\u0016'), 50)
      socket.on('close', () => clearInterval(timer)).on('error', () => {})
    })
    await new Promise<void>(resolve => slow.listen(0, '127.0.0.1', resolve))
    const { port } = slow.address() as { port: number }
    const startedMs = performance.now()
    expect(
      await attempt(
        { ...known, url: `https://127.0.0.1:${port}/x` },
        { id: 'm', body: Buffer.from('{}'), nowMs: 0 },
        { rules: quick, storeSecret: store.secret },
      ),
    ).toMatchObject({ status: undefined })
    expect(performance.now() - startedMs).toBeLessThan(3_000)
    slow.close()
  })

  let quiet: Issued
  async function listenQuietly(): Promise<Issued> {
    const { body } = await ask('POST', '/webhooks', { url: 'https://hooks.example/x', chain: 'eth' })
    quiet = schemas.issuedWebhook.parse(body)
    return quiet
  }
})

test.each([
  [{}, 'url must be an https URL of at most 2048 characters'],
  [{ url: 'https://a.example', chain: 'nowhere' }, 'chain must be a valid enum value'],
  [{ url: 'https://a.example', chain: 'eth', token_id: '1' }, 'contract is missing'],
  [{ url: 'https://a.example', chain: 'eth', contract: 'x' }, /^contract must be/],
  [{ url: 'https://a.example', chain: 'eth', kinds: ['sale'] }, /^kinds must be/],
  [{ url: 'https://a.example', chain: 'eth', secret: 'mine' }, 'The body must be an object with known fields'],
  [{ url: 'https://a.example', chain: 'eth', after: 'x', from_block: 1 }, /^from_block must be/],
  [{ url: 'https://a.example', chain: 'eth', after: 'x' }, /^after must be/],
])('%j is refused: %s', async (body, message) => {
  const answer = await ask('POST', '/webhooks', body)
  expect(answer.status).toBe(400)
  expect(answer.body.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
})
