// What readers see of commits on Citus: an answer that claims to be complete has every row, also while a worker is lost
// between the two phases of a commit. Killing workers needs the folder of `scripts/citus-cluster.sh` as CITUS_FOLDER.
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AlmanacError } from '../src/errors.ts'
import { type Address, type Block, type ChainId, type Hash, zeroAddress } from '../src/model.ts'
import { firstPage } from '../src/query/cursor.ts'
import type { FreshenOptions } from '../src/query/freshen.ts'
import { KnownLabels } from '../src/query/known-labels.ts'
import { NftTransfers, type TransfersQuestion, transferReads } from '../src/query/nft-transfers.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import type { HotCommit, Store } from '../src/store/store.ts'
import { atPort, citusUrl, createSchema, onCitus, onServer } from './citus-schema.ts'
import { packTransfer } from './pack-transfer.ts'

const killsWanted = Number(process.env.CITUS_KILLS ?? 10)
const answersWanted = Number(process.env.CITUS_ANSWERS ?? 3_000)
const history = 1 as ChainId
const head = 2 as ChainId
/** Spread over every worker. */
const contracts = Array.from({ length: 12 }, (_, at) => `0x${(at + 16).toString(16).repeat(20)}` as Address)
const blocksPerCommit = 20
const hotKept = 12

/** Every hash names the branch: what a complete answer shows must be one whole branch. */
function blockOf(number: number, branch: number): Block {
  const hash = `0x${branch.toString(16).padStart(8, '0')}${number.toString(16).padStart(56, '0')}` as Hash
  return { number, hash, timestamp: 1_000 + number }
}

const payload = packTransfer({
  ...{ standard: 'ERC721', batch: false, operator: undefined, tokenId: 1n, amount: 1n, value: 0n, idCount: 1 },
  ...{ from: zeroAddress, to: contracts[0]!, transactionHash: blockOf(0, 0).hash },
})

function rowsOf(block: number) {
  const place = { transactionIndex: 0, logIndex: 0, batchIndex: 0, payload }
  return contracts.map(contract => ({ ...place, block, contract }))
}

type World = {
  done: boolean
  /** Blocks of `history` that were given to the store so far. */
  filled: number
  /** The hashes of `head` by number, in each state that was given to the store. */
  states: Hash[][]
  answers: number
  complete: number
  refused: number
  wrong: string[]
}

function isFailure(error: unknown): boolean {
  return error instanceof AlmanacError && (error.retryable || error.code === 'store_failed')
}

/** As indexers do: what may succeed later is tried again. */
async function insist(world: World, commit: () => Promise<unknown>): Promise<void> {
  while (!world.done) {
    try {
      await commit()
      return
    } catch (error) {
      // A lost worker is `store_failed`, whatever words Citus has for it.
      if (!isFailure(error)) throw error
      await delay(50)
    }
  }
}

/** Ranges of a history, each with its claim. */
async function fill(store: Store, world: World): Promise<void> {
  await store.putChainState(history, { head: blockOf(10_000_000, 0) })
  for (; !world.done; await delay(20)) {
    const numbers = Array.from({ length: blocksPerCommit }, (_, at) => world.filled + at)
    const covered = { scope: 'full', from: numbers[0]!, to: numbers.at(-1)!, evidence: 'bloom' } as const
    const blocks = numbers.map(number => blockOf(number, 0))
    const transfers = numbers.flatMap(rowsOf)
    world.filled += blocksPerCommit
    await insist(world, () =>
      store.commitCold({ chain: history, covered: [covered], blocks, transfers, activity: noActivity }),
    )
  }
}

/** A head that grows, is replaced by other branches, also by shorter ones, and becomes final. */
async function follow(store: Store, world: World): Promise<void> {
  let now: Hash[] = []
  for (let turn = 0, branch = 0; !world.done; turn++) {
    if (turn % 4 === 3) branch += 1
    const tip = now.length - 1
    const ancestor = turn % 4 === 3 ? Math.max(tip - 1 - (turn % 5), tip - hotKept + 6, -1) : tip
    const count = turn % 8 === 3 ? 1 : 3
    const blocks = Array.from({ length: count }, (_, at) => blockOf(ancestor + 1 + at, branch))
    const commit: HotCommit = {
      chain: head,
      ancestor,
      blocks: blocks.map(block => ({ ...block, transfers: rowsOf(block.number), activity: noActivity })),
      covered: { scope: 'full', from: ancestor + 1, evidence: 'bloom' },
      head: blocks.at(-1)!,
    }
    now = [...now.slice(0, ancestor + 1), ...blocks.map(block => block.hash)]
    world.states.push(now)
    await insist(world, () => store.commitHot(commit))
    if (now.length > hotKept) await insist(world, () => store.putChainState(head, { finalized: now.length - hotKept }))
  }
}

/** Asks for what was committed last and before it, and compares every answer that claims to be complete. */
async function page(store: Store, world: World, seed: number): Promise<void> {
  const transfers = new NftTransfers(store, transferReads(store, new KnownLabels(store, () => store.revision())))
  const options = {
    key: { id: 'test', indexPerDay: undefined, indexWaiting: undefined },
    freshen: undefined,
    freshenWaitMs: 0,
  }
  for (let turn = seed; !world.done; turn++) {
    const chain = turn % 2 === 0 ? history : head
    const tip = chain === history ? world.filled : (world.states.at(-1)?.length ?? 0)
    const span = chain === history ? blocksPerCommit : 8
    const from = Math.max(0, tip - span * (1 + (turn % 3)))
    const to = from + span - 1 - (chain === head ? turn % 4 : 0)
    const contract = contracts[turn % contracts.length]!
    const asked = { chain, contract, fromBlock: from, toBlock: to }
    const first: TransfersQuestion = {
      ...firstPage,
      ...asked,
      ...{ list: 'contract-transfers', subject: contract.slice(2) },
      ...{ order: 'asc', limit: chain === history ? 7 : 100, countTotal: true },
    }
    try {
      await judgeRun(transfers, first, options, world)
    } catch (error) {
      if (!isFailure(error)) world.wrong.push(String(error))
      world.refused += 1
      await delay(5)
    }
  }
}

async function judgeRun(
  transfers: NftTransfers,
  first: TransfersQuestion,
  options: FreshenOptions,
  world: World,
): Promise<void> {
  const { chain, fromBlock: from = 0, toBlock: to = 0 } = first
  const hashes: string[] = []
  let isComplete = true
  let total: number | undefined
  for (let question: TransfersQuestion | undefined = first; question !== undefined; ) {
    const answer = await transfers.answer(question, options)
    world.answers += 1
    isComplete &&= answer.complete && answer.blockExists
    total ??= answer.total
    const { blocks, blockHashes } = answer.rows.stored
    for (let row = 0; row < answer.rows.length; row++) {
      const hash = Buffer.from(blockHashes.subarray(row * 32, row * 32 + 32)).toString('hex')
      hashes[blocks[row]! - from] = `0x${hash}`
    }
    question = answer.next && { ...answer.next, contract: first.contract }
  }
  if (!isComplete) return
  world.complete += 1
  const isState = (state: readonly Hash[]) => state.slice(from, to + 1).every((hash, at) => hash === hashes[at])
  const length = to - from + 1
  const ofHead = () => world.states.some(state => state.length > to && isState(state))
  const isRight = hashes.length === length && (chain === history ? Object.keys(hashes).length === length : ofHead())
  if (!isRight || (chain === history && total !== length))
    world.wrong.push(`chain ${chain}, blocks ${from} to ${to}: ${Object.keys(hashes).length} rows, total ${total}`)
}

async function inWorld(work: (world: World) => Promise<void>): Promise<World> {
  const { url, drop } = await createSchema()
  const world: World = { done: false, filled: 0, states: [], answers: 0, complete: 0, refused: 0, wrong: [] }
  // What is final is folded at once.
  const writer = await openPostgresStore(url, { foldBlocks: 1 })
  // Another address is another process to the store: it hears of commits by asking for them.
  const readers = [writer, await openPostgresStore(`${url}&application_name=reader`)]
  const running = [fill(writer, world), follow(writer, world)]
  for (const store of readers) running.push(page(store, world, readers.indexOf(store)), page(store, world, 3))
  try {
    await work(world)
  } finally {
    world.done = true
    await Promise.all(running)
    for (const store of readers) await store.close()
    await drop()
  }
  console.error(
    `${world.answers} answers, ${world.complete} complete runs of pages, ${world.wrong.length} wrong, ${world.refused} refused`,
  )
  return world
}

describe.skipIf(citusUrl === undefined)('a complete answer on Citus', () => {
  test('has every row while others commit', { timeout: 600_000 }, async () => {
    const { wrong, complete } = await inWorld(async world => {
      while (world.answers < answersWanted) await delay(100)
    })
    expect(wrong).toEqual([])
    expect(complete).toBeGreaterThan(answersWanted / 20)
  })

  describe.skipIf(process.env.CITUS_FOLDER === undefined)('with workers that are killed between the phases', () => {
    const cluster = (command: string) =>
      promisify(execFile)(new URL('../scripts/citus-cluster.sh', import.meta.url).pathname, [command])
    beforeAll(async () => {
      expect((await cluster('status')).stdout).toContain('coordinator runs')
    })
    afterAll(async () => {
      await cluster('up')
    })

    test('has every row', { timeout: 1_800_000 }, async () => {
      const ports = await onCitus(async client => {
        const { rows } = await client.query(
          "SELECT nodeport FROM pg_dist_node WHERE noderole = 'primary' AND groupid > 0",
        )
        return rows.map(({ nodeport }) => Number(nodeport))
      })
      let kills = 0
      const { wrong, complete } = await inWorld(async world => {
        await delay(3_000)
        for (let turn = 0; kills < killsWanted; turn++) {
          const before = world.complete
          const port = ports[turn % ports.length]!
          await killWithin(port)
          await delay(500)
          const left = await leftPrepared(port, () => cluster('up'))
          if (left > 0) kills += 1
          console.error(
            `kill ${turn}: ${left} transactions left, ${world.complete} complete, ${world.wrong.length} wrong`,
          )
          // Until what was left is resolved and clients get complete answers again.
          while (world.complete < before + 20) await delay(50)
          await delay(1_000)
        }
      })
      expect(wrong).toEqual([])
      expect(complete).toBeGreaterThan(killsWanted * 20)
    })
  })
})

/**
 * Ends the worker at once when it holds a prepared transaction that the coordinator has committed. It makes each flush
 * of its log wait, so that there is time for it.
 */
async function killWithin(port: number): Promise<void> {
  await onServer(atPort(port), async worker => {
    const { rows } = await worker.query("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid")
    await setFlush(worker, ['fsync = on', 'commit_siblings = 0', 'commit_delay = 100000'])
    await onCitus(async coordinator => {
      for (let committed = 0; committed === 0; ) {
        const prepared = await worker.query('SELECT gid FROM pg_prepared_xacts')
        const gids = prepared.rows.map(({ gid }) => gid)
        if (gids.length === 0) continue
        const found = await coordinator.query('SELECT 1 FROM pg_dist_transaction WHERE gid = ANY ($1)', [gids])
        committed = found.rows.length
      }
      // Its children would finish what they are doing.
      const sessions = await worker.query('SELECT pid FROM pg_stat_activity')
      for (const { pid } of [...rows, ...sessions.rows]) process.kill(Number(pid), 'SIGKILL')
    })
  })
}

async function setFlush(client: pg.Client, settings: readonly string[]): Promise<void> {
  for (const setting of settings) await client.query(`ALTER SYSTEM SET ${setting}`)
  await client.query('SELECT pg_reload_conf()')
}

/** Starts the worker again; returns how many transactions it still held that were committed on the coordinator. */
async function leftPrepared(port: number, start: () => Promise<unknown>): Promise<number> {
  const committed = await onCitus(async client => {
    const { rows } = await client.query('SELECT gid FROM pg_dist_transaction')
    return new Set(rows.map(({ gid }) => gid))
  })
  const started = start()
  let left: number | undefined
  while (left === undefined) {
    await delay(20)
    left = await onServer(atPort(port), async client => {
      const { rows } = await client.query('SELECT gid FROM pg_prepared_xacts')
      await setFlush(client, ['fsync = off', 'commit_delay = 0'])
      return rows.filter(({ gid }) => committed.has(gid)).length
    }).catch(() => undefined)
  }
  await started
  return left
}
