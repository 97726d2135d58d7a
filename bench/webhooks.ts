// What webhooks cost: a chain that gets blocks each second and fills its history meanwhile, without webhooks and with
// many of them, of which some hang. Measures how fast history is filled, the memory of the process, and how late the
// others hear of a block. The thread that sends is the service's own; receivers are another process.
// Run: npm run bench:webhooks -- --webhooks 1000 --hanging 100 --blocks 20 --seconds 30
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { filterText } from '../src/api/evm/webhooks/webhook-filter.ts'
import type { WebhookThread, WebhookThreadData } from '../src/cli/service/send-webhooks.ts'
import { issueKey } from '../src/keys/keys.ts'
import type { Address, Block, ChainId, Hash } from '../src/model.ts'
import { Changes } from '../src/query/changes/changes.ts'
import { type ChangeFilter, PositionSigner } from '../src/query/changes/position.ts'
import { KnownLabels } from '../src/query/known-labels.ts'
import { transferReads } from '../src/query/nft-transfers.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { HotBlock, Store } from '../src/store/store.ts'
import { yieldToServing } from '../src/threads.ts'
import { WorkerThread } from '../src/worker-thread.ts'
import { packTransfer } from '../test/pack-transfer.ts'

/** What a receiver heard: the block of each change that was seen, and when. */
type Heard = { block: number; atMs: number }[]

async function receive(): Promise<void> {
  const heard: Heard = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    if (request.url!.startsWith('/hangs')) return
    const atMs = Date.now()
    for (const { state, block_number } of JSON.parse(text).changes)
      if (state === 'seen') heard.push({ block: block_number, atMs })
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.on('message', () => process.send!(heard))
  process.send!((server.address() as AddressInfo).port)
}

async function measure(): Promise<void> {
  const { values } = parseArgs({
    options: {
      webhooks: { type: 'string', default: '1000' },
      hanging: { type: 'string', default: '100' },
      blocks: { type: 'string', default: '20' },
      seconds: { type: 'string', default: '30' },
    },
  })
  const [webhooks, hanging, perSecond, seconds] = [values.webhooks, values.hanging, values.blocks, values.seconds].map(
    Number,
  )
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  try {
    const world = await World.open(join(folder, 'store.db'), webhooks!)
    const load = { perSecond: perSecond!, seconds: seconds! }
    // A file that grows, and code that is compiled, are not what is measured.
    const { rssMb } = await world.run(load)
    const receiver = fork(import.meta.filename, ['receive'])
    const [port] = (await once(receiver, 'message')) as [number]
    const data: WebhookThreadData = {
      ...{ store: world.location, addedChains: [], dialect: 'live' },
      settings: { allowPrivate: true, allowHttp: true, maxPerKey: webhooks! },
      log: { level: 'warn', format: 'text', colours: false },
    }
    const module = new URL('../src/cli/service/send-webhooks.ts', import.meta.url)
    const thread = new WorkerThread<WebhookThread>({ name: 'The sender', module, data })
    await thread.ready
    // As the thread that indexes: both give way to serving alike.
    yieldToServing()
    const without = await world.run(load)
    await world.addWebhooks(`http://127.0.0.1:${port}`, hanging!)
    // Until those that hang do so.
    await world.run({ ...load, seconds: Math.min(5, seconds!) })
    const fromBlock = world.head
    const loaded = await world.run(load)
    await delay(3_000)
    receiver.send('heard')
    const [heard] = (await once(receiver, 'message')) as [Heard]
    const delays = heard
      .filter(({ block }) => block > fromBlock)
      .map(({ block, atMs }) => atMs - world.committedAt.get(block)!)
    console.log(`${webhooks} webhooks, ${hanging} of them hang; ${perSecond} blocks a second, for ${seconds} s each`)
    const rateOf = ({ rows }: Run) => Math.round(rows / seconds!)
    console.log(
      `history      ${rateOf(without)} rows/s without, ${rateOf(loaded)} with: ${(loaded.rows / without.rows).toFixed(3)}`,
    )
    console.log(`head         ${without.blocks} blocks without, ${loaded.blocks} with`)
    console.log(
      `memory       ${rssMb} MB before the thread, ${without.rssMb} with it idle, ${loaded.rssMb} at work: +${loaded.rssMb - rssMb}`,
    )
    console.log(
      `heard        ${delays.length} changes; delay p50 ${quantile(delays, 0.5)} ms, p99 ${quantile(delays, 0.99)} ms`,
    )
    await thread.far.close()
    thread.end(new Error('done') as never)
    receiver.kill()
    await world.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

type Run = { rows: number; blocks: number; rssMb: number }

const chain = 1 as ChainId
const evidence = 'receipts-root'
const finalDepth = 32
const rowsOfBlock = 10
const historyFrom = 10_000_000
const historyBlocks = 50

class World {
  readonly location: string
  readonly committedAt = new Map<number, number>()
  head = historyFrom
  readonly #store: Store
  readonly #webhooks: number
  #historyAt = historyFrom

  static async open(path: string, webhooks: number): Promise<World> {
    const store = await openStore(`file:${path}`, { role: 'owner' })
    const world = new World(store, `file:${path}`, webhooks)
    const first = blockOf(historyFrom)
    await store.commitCold({
      ...{ chain, blocks: [first], activity: noActivity, transfers: [] },
      covered: [{ scope: 'full', from: historyFrom, to: historyFrom, evidence }],
      ranges: [{ from: historyFrom, to: historyFrom, hash: first.hash }],
    })
    return world
  }

  private constructor(store: Store, location: string, webhooks: number) {
    this.#store = store
    this.location = location
    this.#webhooks = webhooks
  }

  async addWebhooks(url: string, hanging: number): Promise<void> {
    const signer = new PositionSigner(this.#store.secret)
    const changes = new Changes(
      this.#store,
      transferReads(this.#store, new KnownLabels(this.#store, () => this.#store.revision())),
    )
    const { key } = await issueKey(this.#store, { name: 'bench', scopes: ['webhooks'] })
    for (let at = 0; at < this.#webhooks; at++) {
      const filter: ChangeFilter = {
        ...{ ledgers: [chain], contract: contractOf(at), wallet: undefined, tokenId: undefined, finalOnly: false },
      }
      const webhook = {
        ...{ id: `wh_${at}`, keyId: key.id, name: `${at}`, url: `${url}/${at < hanging ? 'hangs' : 'ok'}/${at}` },
        ...{ filter: filterText(filter), createdAt: at, paused: false, secret: 1, oldSecretUntil: undefined },
      }
      const position = signer.seal(filter, await changes.begin(filter, undefined))
      await this.#store.addWebhook(webhook, position, { ofKeys: [key.id], count: this.#webhooks })
    }
  }

  /** Blocks come at their pace, and all other time goes into history. */
  async run({ perSecond, seconds }: { perSecond: number; seconds: number }): Promise<Run> {
    const startedMs = performance.now()
    const run = { rows: 0, blocks: 0, rssMb: 0 }
    while (performance.now() - startedMs < seconds * 1_000) {
      if (run.blocks < ((performance.now() - startedMs) / 1_000) * perSecond) {
        await this.#addBlock()
        run.blocks++
      } else run.rows += await this.#addHistory()
    }
    run.rssMb = Math.round(process.memoryUsage().rss / 1_048_576)
    return run
  }

  async #addBlock(): Promise<void> {
    const number = ++this.head
    const { hash, timestamp } = blockOf(number)
    await this.#store.commitHot({
      ...{ chain, ancestor: number - 1, blocks: [this.#withRows(number)], head: { number, hash, timestamp } },
      covered: { scope: 'full', from: number, evidence },
    })
    this.committedAt.set(number, Date.now())
    if (number - finalDepth > historyFrom) await this.#store.putChainState(chain, { finalized: number - finalDepth })
  }

  /** Downwards, as history comes. */
  async #addHistory(): Promise<number> {
    const to = this.#historyAt - 1
    const from = to - historyBlocks + 1
    this.#historyAt = from
    const blocks = Array.from({ length: historyBlocks }, (_, at) => this.#withRows(from + at))
    await this.#store.commitCold({
      ...{
        chain,
        activity: noActivity,
        blocks: blocks.map(({ number, hash, timestamp }) => ({ number, hash, timestamp })),
      },
      covered: [{ scope: 'full', from, to, evidence }],
      ranges: [{ from, to, hash: blocks.at(-1)!.hash }],
      transfers: blocks.flatMap(({ transfers }) => transfers),
    })
    return historyBlocks * rowsOfBlock
  }

  #withRows(number: number): HotBlock {
    const transfers = Array.from({ length: rowsOfBlock }, (_, logIndex) => ({
      ...{ block: number, transactionIndex: logIndex, logIndex, batchIndex: 0 },
      contract: contractOf((number * 7 + logIndex * 131) % this.#webhooks),
      payload: packTransfer({
        ...{ standard: 'ERC721', batch: false, operator: undefined, amount: 1n, value: 0n, idCount: 1 },
        ...{ from: addressOf(logIndex), to: addressOf(number % 1_000), tokenId: BigInt(number % 10_000) },
        transactionHash: blockOf(number).hash,
      }),
    }))
    return { ...blockOf(number), transfers, activity: noActivity }
  }

  async close(): Promise<void> {
    await this.#store.close()
  }
}

function blockOf(number: number): Block {
  return { number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash, timestamp: 1_600_000_000 + number }
}

function addressOf(number: number): Address {
  return `0x${(number + 1).toString(16).padStart(40, '0')}` as Address
}

function contractOf(at: number): Address {
  return addressOf(1_000_000 + at)
}

if (process.argv[2] === 'receive') await receive()
else await measure()
