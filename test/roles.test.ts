// Processes with one role each on one store, as their users start them: those that answer have what is missing indexed by one that
// reads the chain, and show how it fares.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { problemAnswer } from '../src/api/problem.ts'
import { ChainTable, defineChain } from '../src/chains.ts'
import { AlmanacError } from '../src/errors.ts'
import { IndexingLimits } from '../src/keys/indexing-limits.ts'
import { createLog } from '../src/log.ts'
import type { Address, ChainId, Hash, ShownToken } from '../src/model.ts'
import { HeartbeatWriter, Reports } from '../src/processes/heartbeat.ts'
import { remoteFreshen } from '../src/processes/remote-freshen.ts'
import { askAnyProcess } from '../src/processes/remote-transaction.ts'
import { nodesTopic, solanaTopic, type Work, WorkClaimer } from '../src/processes/remote-work.ts'
import { TokenUris } from '../src/query/metadata/token-uris.ts'
import { openStore } from '../src/store/open.ts'
import { CommandPlace } from './command-run.ts'
import { storedTransfers, truthByContract } from './evm-harness.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'
import { expectedSent } from './sim/truth.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

const chainId = 31_337
const key = 'the-operator-key'
/** A busy machine needs long to start processes. */
const patience = { timeout: 60_000, interval: 100 }

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function startApi(place: CommandPlace, store: string): Promise<(path: string) => Promise<Response>> {
  const run = place.begin(['start', '--only', 'api', '--listen', '127.0.0.1:0', '--store', store], { ALMANAC_KEY: key })
  const url = await run.listening()
  return path => fetch(url + path, { headers: { 'x-api-key': key, prefer: 'wait=14' } })
}

function busiest(node: SimNode): [Address, number] {
  const truth = [...truthByContract(node.chain, { from: 0, to: node.chain.head })]
  const [contract, rows] = truth.sort((a, b) => b[1].length - a[1].length)[0]!
  return [contract, rows.length]
}

describe.each(engineAbove('postgres'))('on %s', name => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  test('one that answers has contracts and wallets indexed by another one', { timeout: 180_000 }, async () => {
    const url = await engine.newStore()
    const node = await startSimNode({ chain: { chainId, height: 300, hashes: 'real', ...lightBlocks } })
    cleanups.push(() => node.close())
    const place = new CommandPlace()
    cleanups.push(() => place.dispose())
    place.configure({ sim: { id: chainId, rpc: node.url, index: 'on-demand' } })
    const [get, getToo] = await Promise.all([startApi(place, url), startApi(place, url)])
    const [contract, rows] = busiest(node)
    const page = async (ask: typeof get) => {
      const answer = await ask(`/api/v2.2/nft/${contract}/transfers?chain=sim&limit=100`)
      return (await answer.json()) as { result: unknown[]; index_complete: boolean }
    }
    // Nobody indexes yet: the answer says so at once, and the service is as ready as its store.
    expect(await page(get)).toMatchObject({ result: [], index_complete: false })
    expect(await (await get('/status')).json()).toMatchObject({ chains: {} })

    const indexer = place.begin(['start', '--only', 'index', '--store', url])
    await vi.waitFor(async () => {
      const { chains } = (await (await get('/status')).json()) as { chains: { sim: object } }
      expect(chains.sim).toMatchObject({ head: 300, finalized: expect.any(Number), index: 'on-demand' })
    }, patience)
    await vi.waitFor(async () => expect((await get('/ready')).status).toBe(200), patience)
    const [first, second] = await vi.waitFor(async () => {
      const answers = await Promise.all([page(get), page(getToo)])
      for (const answer of answers) expect(answer).toMatchObject({ index_complete: true })
      return answers as [Awaited<ReturnType<typeof page>>, Awaited<ReturnType<typeof page>>]
    }, patience)
    expect(first.result).toHaveLength(Math.min(rows, 100))
    expect(second).toEqual(first)
    const store = await openStore(url, { role: 'tool' })
    cleanups.push(() => store.close())
    const truth = truthByContract(node.chain, { from: 0, to: 300 }).get(contract)
    expect(await storedTransfers(store, node.chain, contract)).toEqual(truth)

    const wallet = node.chain.block(150).transactions[0]!.from as Address
    const answer = await getToo(`/api/v2/wallets/${wallet}/chains?chains=sim`)
    const { active_chains: chains } = (await answer.json()) as {
      active_chains: { last_transaction: { block_number: string } | null }[]
    }
    expect(chains[0]?.last_transaction?.block_number).toBe(`${expectedSent(node.chain, wallet)!.last.block}`)

    // Nor has it a node for a balance.
    const balance = await get(`/api/v2.2/${wallet}/balance?chain=sim&to_block=200`)
    expect(await balance.json()).toEqual({ balance: `${node.chain.balanceAt(wallet, 200)}` })
    // Nor for a block by its date or its hash, a count of its transactions, or a nonce.
    const asked = node.chain.block(123)
    const dated = await get(`/api/v2.2/dateToBlock?chain=sim&date=${asked.timestamp}`)
    expect(await dated.json()).toMatchObject({ block: 123, hash: asked.hash, parent_hash: node.chain.block(122).hash })
    expect(dated.headers.get('x-index-complete')).toBe('true')
    const ofBlock = await get(`/api/v2.2/block/${asked.hash}/stats?chain=sim`)
    expect(await ofBlock.json()).toMatchObject({ transactions: { total: `${asked.transactions.length}` } })
    expect((await get(`/api/v2.2/block/0x${'ab'.repeat(32)}/stats?chain=sim`)).status).toBe(404)
    const ofWallet = await get(`/api/v2.2/wallets/${wallet}/stats?chain=sim`)
    expect(await ofWallet.json()).toMatchObject({ transactions: { total: `${node.chain.nonceAt(wallet, 300)}` } })

    // A process without a node of the chain has one that has nodes ask for a transaction.
    const table = new ChainTable([defineChain({ name: 'sim', id: chainId })])
    const askNode = askAnyProcess({ store, chains: table, own: async () => 'not asked' })
    const known = node.chain.block(150).transactions[0]!.hash as Hash
    const unknown = `0x${'ab'.repeat(32)}` as Hash
    const { signal } = new AbortController()
    expect(await askNode({ chain: 'sim', contract, hash: known }, signal)).toMatchObject({ block: 150 })
    expect(await askNode({ chain: 'sim', contract, hash: unknown }, signal)).toBeUndefined()

    // An indexer that dies is seen by those that answer: nothing vouches for the chain any more.
    await indexer.kill()
    await vi.waitFor(async () => {
      const { chains } = (await (await get('/status')).json()) as { chains: { sim: { lag_seconds: number } } }
      expect(chains.sim).toMatchObject({ state: 'stalled', reason: expect.stringContaining('last reported') })
      expect(chains.sim.lag_seconds).toBeGreaterThanOrEqual(5)
    }, patience)
  })

  test('token URIs are read by another process that has nodes of the chain', async () => {
    const url = await engine.newStore()
    const [asking, indexing] = [await openStore(url, { role: 'reader' }), await openStore(url, { role: 'reader' })]
    cleanups.push(() => asking.close())
    cleanups.push(() => indexing.close())
    const log = createLog({ level: 'silent', format: 'json' })
    const chain = 1 as ChainId
    const uris = new TokenUris(asking, remoteFreshen(asking, new Reports(asking), new IndexingLimits(asking)))
    const tokens = Array.from(
      { length: 50 },
      (_, at): ShownToken => ({
        contract: `0x${at.toString(16).padStart(40, 'c')}` as Address,
        tokenId: 2n ** 256n - 1n - BigInt(at),
        standard: at % 2 === 0 ? 'ERC721' : 'ERC1155',
      }),
    )
    expect(await uris.of(chain, tokens)).toMatchObject({ complete: false })

    const topics = async () => [nodesTopic(chain)]
    const perform = async (work: Work) => {
      if (work.kind !== 'token-uris') throw new Error(work.kind)
      const readAtMs = Date.now()
      const read = work.tokens.map(token => ({ ...token, uri: `${token.standard} ${token.tokenId}`, readAtMs }))
      await indexing.annotate({ tokenUris: { chain: work.chain, uris: read } })
      return {}
    }
    const claimer = new WorkClaimer({ store: indexing, log, topics, perform })
    cleanups.push(() => claimer.close())
    const report = async () => ({ chains: {}, solana: {}, topics: await topics() })
    const heart = new HeartbeatWriter(indexing, { process: 'p', report, log })
    cleanups.push(() => heart.close())
    const { details } = await vi.waitFor(async () => {
      const answer = await uris.of(chain, tokens)
      expect(answer.complete).toBe(true)
      return answer
    }, patience)
    expect(details.map(({ tokenUri }) => tokenUri)).toEqual(
      tokens.map(({ standard, tokenId }) => `${standard} ${tokenId}`),
    )
  })

  test('a portfolio is read by another process, and its failure is told as it is', async () => {
    const url = await engine.newStore()
    const [asking, indexing] = [await openStore(url, { role: 'reader' }), await openStore(url, { role: 'reader' })]
    cleanups.push(() => asking.close())
    cleanups.push(() => indexing.close())
    const log = createLog({ level: 'silent', format: 'json' })
    const owner = new Uint8Array(32).fill(7)
    const freshness = { slot: 9, chainTime: 8, readAtMs: 7 }
    const reports = new Reports(asking)
    const freshen = remoteFreshen(asking, reports, new IndexingLimits(asking))
    const key = { id: 'k', indexPerDay: undefined, indexWaiting: undefined }
    await expect(freshen.portfolio('mainnet', owner, key)).rejects.toMatchObject({ code: 'not_configured' })

    const topics = async () => [solanaTopic('mainnet')]
    let failing = false
    const failure = { hint: 'wait.', details: { rpcCode: 429 }, retryable: true, retryAfterMs: 6_500 }
    const cause = new Error('Too Many Requests')
    const asked: unknown[] = []
    const claimer = new WorkClaimer({
      store: indexing,
      log,
      topics,
      async perform(subject) {
        asked.push(subject)
        if (failing) throw new AlmanacError('upstream_rate_limited', 'The node is busy.', { ...failure, cause })
        return { freshness }
      },
    })
    cleanups.push(() => claimer.close())
    const report = async () => ({ chains: {}, solana: {}, topics: await topics() })
    const heart = new HeartbeatWriter(indexing, { process: 'p', report, log })
    cleanups.push(() => heart.close())
    await vi.waitFor(async () => expect(await reports.serves(solanaTopic('mainnet'))).toBe(true), patience)
    // The other network has no reader, and this one is named.
    const other = await freshen.portfolio('devnet', owner, key).then(undefined, error => error)
    expect(other.message).toContain('Solana devnet (configured: mainnet): one needs solana.devnet.rpc')
    expect(await freshen.portfolio('mainnet', owner, key)).toEqual(freshness)
    expect(asked).toEqual([{ kind: 'portfolio', network: 'mainnet', owner: Buffer.from(owner) }])
    failing = true
    const heard = await freshen.portfolio('mainnet', owner, key).then(undefined, error => error)
    expect(heard).toBeInstanceOf(AlmanacError)
    expect(heard).toMatchObject({ code: 'upstream_rate_limited', message: 'The node is busy.', ...failure, cause })
    const { headers } = problemAnswer(heard, { requestId: 'r', accept: undefined, solana: true })
    expect(headers).toMatchObject({ 'Retry-After': '7' })
    expect(await reports.serves(solanaTopic('devnet'))).toBe(false)
    // Where no process has a node of the chain, nothing is waited for.
    const ask = askAnyProcess({ store: asking, chains: new ChainTable(), own: async () => 'not asked' })
    const transaction = { chain: 'eth', contract: `0x${'c'.repeat(40)}`, hash: `0x${'ab'.repeat(32)}` } as const
    expect(await ask(transaction as never, AbortSignal.timeout(1_000))).toBe('not asked')
  })

  test('mints and balances are read by another process, as plain data, and failures are told as they are', async () => {
    const url = await engine.newStore()
    const [asking, indexing] = [await openStore(url, { role: 'reader' }), await openStore(url, { role: 'reader' })]
    cleanups.push(() => asking.close())
    cleanups.push(() => indexing.close())
    const log = createLog({ level: 'silent', format: 'json' })
    const reports = new Reports(asking)
    const freshen = remoteFreshen(asking, reports, new IndexingLimits(asking))
    const key = { id: 'k', indexPerDay: 30, indexWaiting: undefined }
    const mint = new Uint8Array(32).fill(9)
    // As many wallets as a request may name.
    const wallets = Array.from({ length: 25 }, (_, at) => `0x${`${at + 10}`.repeat(20)}` as Address)
    const asked = { chain: chainId as never, block: 7, wallets }
    await expect(freshen.mint('devnet', mint, key)).rejects.toMatchObject({ code: 'not_configured' })
    await expect(freshen.balances(asked, key)).rejects.toMatchObject({ code: 'not_configured' })

    const reading = { slot: 9, readAtMs: 8, facts: null }
    const hash = `0x${'7'.repeat(64)}` as Hash
    const balances = { block: 7, hash, timestamp: 6, balances: wallets.map((_, at) => `${2n ** 200n + BigInt(at)}`) }
    const done: unknown[] = []
    const topics = async () => [solanaTopic('devnet'), nodesTopic(chainId as never)]
    const claimer = new WorkClaimer({
      ...{ store: indexing, log, topics },
      async perform(work) {
        done.push(work)
        if (work.kind === 'mint') return { mint: reading }
        if (work.kind === 'balances' && work.block === undefined)
          throw new AlmanacError('not_configured', 'No node of sim has the state of block 7.')
        return work.kind === 'balances' ? { balances } : {}
      },
    })
    cleanups.push(() => claimer.close())
    const report = async () => ({ chains: {}, solana: {}, topics: await topics() })
    const heart = new HeartbeatWriter(indexing, { process: 'p', report, log })
    cleanups.push(() => heart.close())
    await vi.waitFor(async () => expect(await reports.serves(solanaTopic('devnet'))).toBe(true), patience)
    expect(await freshen.mint('devnet', mint, key)).toEqual(reading)
    expect(await freshen.balances(asked, key)).toEqual(balances)
    expect(done).toEqual([
      { kind: 'mint', network: 'devnet', mint: Buffer.from(mint) },
      { kind: 'balances', ...asked, asker: key },
    ])
    await expect(freshen.balances({ ...asked, block: undefined }, key)).rejects.toMatchObject({
      ...{ code: 'not_configured', message: 'No node of sim has the state of block 7.' },
    })
    // 1 mint and 25 wallets are counted, each once; the answer of a node is worth nothing to a key without an allowance.
    await expect(freshen.balances(asked, { ...key, id: 'none', indexPerDay: 0 })).rejects.toMatchObject({
      code: 'quota_exceeded',
    })
  })

  test('a key has as much indexed as it may, whichever process is asked', async () => {
    const url = await engine.newStore()
    const stores = [await openStore(url, { role: 'reader' }), await openStore(url, { role: 'reader' })]
    for (const store of stores) cleanups.push(() => store.close())
    await stores[0]!.putHeartbeat('p', JSON.stringify({ chains: {}, solana: {}, topics: ['evm/1'] }))
    const processes = stores.map(store => remoteFreshen(store, new Reports(store), new IndexingLimits(store)))
    const contracts = Array.from({ length: 6 }, (_, index) => `0x${`${index}`.repeat(40)}` as Address)
    const key = { id: 'k', indexPerDay: 4, indexWaiting: 20 }
    const ask = (index: number, by = key) => processes[index % 2]!.contract(1 as never, contracts[index]!, 5, by)
    for (const index of [0, 1, 2, 3]) await ask(index)
    for (const index of [4, 5])
      await expect(ask(index)).rejects.toMatchObject({
        code: 'quota_exceeded',
        details: {
          limit: '4 contracts, wallets and Solana owners a day to index',
          raise: 'almanac keys limit k --index <number>',
        },
      })
    // What is kept costs nothing, and a key that may index nothing gets what is there.
    await stores[0]!.addCoverage(1 as never, contracts[5]!, { from: 0, to: 9, evidence: 'one-endpoint' })
    await ask(5)
    await ask(4, { ...key, id: 'none', indexPerDay: 0 })
    const taken = await stores[0]!.takeWork({ topics: ['evm/1'], holdMs: 1, limit: 10 })
    // Whoever asked has stopped waiting by now, but what was asked for was at most four of them.
    expect(taken).toEqual([])
    const allowed = await Promise.all(
      contracts.map(contract => stores[1]!.takeIndexing({ keyId: 'k', targets: [`1/${contract}`], perDay: 4 })),
    )
    expect(allowed).toEqual([true, true, true, true, false, false])
  })
})
