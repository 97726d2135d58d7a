// The client against a portal that ends answers early, is busy, lacks columns or sends what never ends.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { trialChain } from '../../../test/portal-trial.ts'
import { type SimPortal, type SimPortalOptions, startSimPortal } from '../../../test/sim/portal.ts'
import type { PortalFault } from '../../../test/sim/portal-faults.ts'
import { PortalClient, type PortalClientOptions, PortalFailure } from './portal-client.ts'
import { PortalLines } from './portal-lines.ts'

const { signal } = new AbortController()
const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function start(
  options: Partial<SimPortalOptions> = {},
  more: Partial<PortalClientOptions> = {},
): Promise<{ portal: SimPortal; client: PortalClient }> {
  const portal = await startSimPortal({ chain: trialChain, ...options })
  const quick = { requestsPerSecond: Number.POSITIVE_INFINITY, backoffMs: 1, patienceMs: 500 }
  const client = new PortalClient({ url: portal.url, ...quick, ...more })
  open.push(client, portal)
  return { portal, client }
}

/** The numbers of the blocks in an answer. */
function numbersIn(body: Uint8Array): number[] {
  const lines = Buffer.from(body).toString().trimEnd().split('\n')
  return lines.map(line => (JSON.parse(line) as { header: { number: number } }).header.number)
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at)
const header = { content: 'header' } as const
const look = { isPatient: true }

test('an answer that ends early goes on with the block after its last', async () => {
  const { portal, client } = await start({ blocksPerAnswer: 4 })
  const { body, count, lacking } = await client.blocks({ from: 10, to: 19 }, { content: 'whole' }, signal)
  expect(numbersIn(body)).toEqual(range(10, 19))
  expect({ count, lacking }).toEqual({ count: 10, lacking: [] })
  expect(portal.queries.map(({ fromBlock, toBlock }) => [fromBlock, toBlock])).toEqual([
    [10, 19],
    [14, 19],
    [18, 19],
  ])
  expect(portal.queries.every(({ includeAllBlocks }) => includeAllBlocks)).toBe(true)
})

test.each(['cut-line', 'cut-gzip', 'reset', 'short', 'no-newline', 'nothing', 'blank', 'too-many'] as const)(
  'lines are whole, one for each block: %s',
  async kind => {
    for (let seed = 1; seed <= 5; seed++) {
      const { client } = await start({ fault: request => (request % 2 === 0 ? { kind, seed } : undefined) })
      const { body } = await client.blocks({ from: 5, to: 14 }, header, signal)
      expect(numbersIn(body), `seed ${seed}`).toEqual(range(5, 14))
    }
  },
)

test('a busy portal is waited for as long as it says', async () => {
  const busy: PortalFault[] = [
    { kind: 'status', status: 429, retryAfter: '0.2' },
    { kind: 'status', status: 503 },
    { kind: 'status', status: 529, retryAfter: '0.1' },
  ]
  const { portal, client } = await start({ fault: request => busy[request] })
  const sinceMs = performance.now()
  const { body } = await client.blocks({ from: 5, to: 6 }, header, signal)
  expect(numbersIn(body)).toEqual([5, 6])
  expect(performance.now() - sinceMs).toBeGreaterThanOrEqual(290)
  expect(portal.queries.length).toBe(4)
})

test('a portal that says to come back much later is not asked until then', async () => {
  const { portal, client } = await start({ fault: () => ({ kind: 'status', status: 429, retryAfter: '3600' }) })
  await expect(client.blocks({ from: 5, to: 6 }, header, signal)).rejects.toMatchObject({ kind: 'away' })
  expect(client.isQuiet).toBe(true)
  await expect(client.finalizedHead(look, signal)).rejects.toThrow(/it asked for a pause of 600 s \(Retry-After\)/)
  expect(portal.queries.length).toBe(1)
})

test('a portal that stays away fails with what it said', async () => {
  const { portal, client } = await start({ fault: () => ({ kind: 'status', status: 503 }) }, { patienceMs: 200 })
  await expect(client.blocks({ from: 5, to: 6 }, header, signal)).rejects.toThrow(/status 503.*not now/)
  expect(portal.queries.length).toBeGreaterThan(1)
})

test('what came before it went away is given', async () => {
  const away: PortalFault = { kind: 'status', status: 503 }
  const { client } = await start({ blocksPerAnswer: 3, fault: request => (request === 0 ? undefined : away) })
  expect(numbersIn((await client.blocks({ from: 5, to: 14 }, header, signal)).body)).toEqual([5, 6, 7])
})

test('what came before another request was told to pause is given', async () => {
  const pause: PortalFault = { kind: 'status', status: 429, retryAfter: '3600' }
  const { client } = await start(
    { blocksPerAnswer: 3, fault: request => (request === 0 ? undefined : pause) },
    { requestsPerSecond: 4 },
  )
  // The next request of the part has its turn after that of the other one.
  const part = client.blocks({ from: 5, to: 14 }, header, signal)
  await expect(client.blocks({ from: 20, to: 21 }, header, signal)).rejects.toMatchObject({ kind: 'away' })
  expect(numbersIn((await part).body)).toEqual([5, 6, 7])
})

test('columns that the dataset lacks below a block are not asked for there', async () => {
  const lacking = { 'transaction.accessList': 20, 'block.requestsHash': 30 }
  const { portal, client } = await start({ lacking, unknown: ['block.withdrawalsRoot'] })
  const whole = { content: 'whole' } as const
  const low = await client.blocks({ from: 15, to: 16 }, whole, signal)
  expect(low.lacking.sort()).toEqual(['block.requestsHash', 'block.withdrawalsRoot', 'transaction.accessList'])
  expect(numbersIn(low.body)).toEqual([15, 16])
  const before = portal.queries.length
  expect((await client.blocks({ from: 12, to: 12 }, whole, signal)).lacking.length).toBe(3)
  expect(portal.queries.length).toBe(before + 1)
  expect((await client.blocks({ from: 25, to: 25 }, whole, signal)).lacking.sort()).toEqual([
    'block.requestsHash',
    'block.withdrawalsRoot',
  ])
})

test('requests that learn of the same column at once are all answered', async () => {
  const { client } = await start({ lacking: { 'transaction.accessList': 40 } })
  const froms = [25, 20, 15, 10]
  const asked = froms.map(from => client.blocks({ from, to: from + 1 }, { content: 'whole' }, signal))
  const answers = await Promise.all(asked)
  expect(answers.map(({ body }) => numbersIn(body)[0])).toEqual(froms)
  expect(answers.map(({ lacking }) => lacking)).toEqual(froms.map(() => ['transaction.accessList']))
})

test('queries that were under way when a column was refused are asked again without it', async () => {
  const { portal, client } = await start({ unknown: ['block.blockAccessListHash', 'block.slotNumber'] })
  const asked = [40, 30, 20, 10].map(from => client.blocks({ from, to: from + 4 }, { content: 'header' }, signal))
  for (const { count, lacking } of await Promise.all(asked)) {
    expect(count).toBe(5)
    expect([...lacking].sort()).toEqual(['block.blockAccessListHash', 'block.slotNumber'])
  }
  expect(portal.queries.length).toBeLessThanOrEqual(12)
})

test('a dataset that lacks what nothing can be read without is refused', async () => {
  const { client } = await start({ lacking: { 'log.topics': 50 } })
  const asked = client.blocks({ from: 15, to: 16 }, { content: 'whole' }, signal)
  await expect(asked).rejects.toMatchObject({ kind: 'refused', message: expect.stringMatching(/column 'topics'/) })
})

test('it tells where its blocks begin and end', async () => {
  const { client } = await start({ start: 12 })
  expect(await client.start(look, signal)).toBe(12)
  expect(await client.finalizedHead(look, signal)).toBe(trialChain.finalized)
  await expect(client.blocks({ from: 5, to: 20 }, header, signal)).rejects.toMatchObject({ kind: 'start', start: 12 })
  const above = client.blocks({ from: trialChain.finalized + 1, to: trialChain.finalized + 2 }, header, signal)
  await expect(above).rejects.toThrow(/no final blocks there yet/)
  expect(await (await start()).client.start(look, signal)).toBe(0)
})

test('a line without an end is wrong, and does not fill the memory', async () => {
  const { client } = await start({ fault: () => ({ kind: 'endless', seed: 1 }) })
  const asked = client.blocks({ from: 5, to: 6 }, header, signal)
  await expect(asked).rejects.toMatchObject({ kind: 'wrong', message: expect.stringMatching(/line of more than/) })
})

test('crumbs of a line are wrong, and enough bytes are enough', () => {
  const crumbs = new PortalLines(1, { bytesEnough: 100, lineBytesMax: 2 ** 20 })
  const crumb = Buffer.from('1')
  expect(() => {
    for (let at = 0; at < 20_000; at++) crumbs.add(crumb)
  }).toThrow('in too many small chunks')
  const lines = new PortalLines(100, { bytesEnough: 10, lineBytesMax: 2 ** 20 })
  lines.add(Buffer.from('{"a":1}\n{"b":2}\n{"c":3}\n'))
  expect([lines.count, lines.isFull, Buffer.from(lines.body()).toString()]).toEqual([2, true, '{"a":1}\n{"b":2}\n'])
})

test('requests keep to the rate of the portal, whichever client makes them', async () => {
  const portal = await startSimPortal({ chain: trialChain })
  const clients = [new PortalClient({ url: portal.url }), new PortalClient({ url: portal.url })]
  open.push(portal, ...clients)
  const sinceMs = performance.now()
  await Promise.all(clients.flatMap(client => [client.finalizedHead(look, signal), client.finalizedHead(look, signal)]))
  expect(performance.now() - sinceMs).toBeGreaterThanOrEqual(660)
})

test('a 429 holds back all that have not been sent, of every chain, and what wakes comes at the rate', async () => {
  const arrivedMs: number[] = []
  let pausedMs = 0
  const server = createServer((_, response) => {
    arrivedMs.push(performance.now())
    if (arrivedMs.length === 3) {
      pausedMs = performance.now()
      response.writeHead(429, { 'retry-after': '1' }).end()
    } else setTimeout(() => response.end('{"header":{"number":5}}\n'), 100)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/datasets/sim`
  // No rate is given: it is that of public portals, and shared.
  const clients = [new PortalClient({ url, patienceMs: 60_000 }), new PortalClient({ url, patienceMs: 60_000 })]
  open.push(...clients, { close: () => new Promise(resolve => server.close(() => resolve())) })
  // More than there are connections: some wait for one.
  const asked = clients.flatMap(client => Array.from({ length: 9 }, () => client))
  await Promise.all(asked.map(client => client.blocks({ from: 5, to: 5 }, header, signal)))
  expect(arrivedMs.length).toBe(asked.length + 1)
  const within = arrivedMs.filter(ms => ms > pausedMs && ms < pausedMs + 1_000)
  // One may be on its way when the answer comes.
  expect(within.length).toBeLessThanOrEqual(1)
  const later = arrivedMs.filter(ms => ms >= pausedMs + 1_000)
  // Each takes its share of the rate: none wakes before what came before it has used up its own.
  expect(later.length).toBeGreaterThanOrEqual(asked.length - 3)
  expect(later.at(-1)! - pausedMs).toBeGreaterThanOrEqual(1_000 + ((later.length - 1) / 4.5) * 1_000 - 10)
})

test('a failure shows nothing of the path or the query', async () => {
  const server = createServer((request, response) => response.writeHead(403).end(`no access to ${request.url}`))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = new PortalClient({ url: `http://127.0.0.1:${port}/datasets/secretname?key=abcdef123456` })
  open.push(client, { close: () => new Promise(resolve => server.close(() => resolve())) })
  const failure = await client.blocks({ from: 1, to: 2 }, header, signal).catch(error => error as PortalFailure)
  expect(failure).toBeInstanceOf(PortalFailure)
  expect((failure as PortalFailure).message).toMatch(/^it answered with the status 403/)
  expect((failure as PortalFailure).message).not.toMatch(/abcdef123456/)
})

test('what is ended ends at once', async () => {
  const { client } = await start({ fault: () => ({ kind: 'status', status: 503 }) }, { patienceMs: 60_000 })
  const ended = new AbortController()
  const asked = client.blocks({ from: 5, to: 6 }, header, ended.signal)
  setTimeout(() => ended.abort(new Error('ended')), 30)
  await expect(asked).rejects.toThrow('ended')
})
