// What one key can take from others by asking who owned what: every request another `at_block` of a large contract, and
// whole lists that are read slowly. The service is a process of its own within a control group, where one can be made.
// It measures memory, the pages of another key, and how soon the service is idle again. A store that is named as
// `file:path` stays. See README.md here.
// Run: npm run bench:holdings-attack -- [--store sqlite|postgres] [--case at-block|dense|readers] [--seconds 30]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { issueKey, type Scope, usualLimits } from '../src/keys/keys.ts'
import { type Address, type Block, type ChainId, type Hash, type TransferRow, zeroAddress } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from '../test/pack-transfer.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { type RunningAlmanac, startAlmanac } from '../test/running-almanac.ts'
import { slowReaders } from './bystanders.ts'
import { Client, requestBytes } from './load.ts'
import { digest } from './made-contracts.ts'
import { walletAddress } from './made-rows.ts'
import { memoryGroup } from './memory-bound.ts'
import { percentile } from './statistics.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    case: { type: 'string', multiple: true, default: ['at-block', 'dense', 'readers'] },
    seconds: { type: 'string', default: '30' },
    /** Requests a second of the attack, and readers of whole lists. */
    rate: { type: 'string', default: '45' },
    readers: { type: 'string', default: '16' },
    /** How many keys attack, with the rate and the readers of all of them together. */
    keys: { type: 'string', default: '1' },
    megabytes: { type: 'string', default: '1024' },
  },
})
const bars = { grownMb: 350, pageP99Ms: 250, normalSeconds: 10 }
const chain = 1 as ChainId
const head = 200_000
/** Transfers of a block: few everywhere, and many in the last blocks. */
const wide = { contract: `0x${'c'.repeat(40)}` as Address, from: 1, perBlock: 3 }
const dense = { contract: `0x${'d'.repeat(40)}` as Address, from: head - 3_749, perBlock: 400 }
const small = { contract: `0x${'5'.repeat(40)}` as Address, from: head - 299, perBlock: 1 }
const checkpoint = 'bench:holdings-attack'
const seconds = Number(values.seconds)

function blockAt(number: number): Block {
  const hash = `0x${digest(`block ${number}`).toString('hex')}` as Hash
  return { number, hash, timestamp: 1_438_269_973 + number * 12 }
}

function rowsOf(block: number): TransferRow[] {
  return [wide, dense, small].flatMap(({ contract, from, perBlock }, index) => {
    if (block < from) return []
    return Array.from({ length: perBlock }, (_, at) => {
      const id = (block - from) * perBlock + at
      const transactionHash = `0x${digest(`${index} ${id}`).toString('hex')}` as Hash
      const payload = packTransfer({
        ...{ standard: 'ERC721', batch: false, operator: undefined, value: 0n, amount: 1n, idCount: 1 },
        // Of the dense contract every token moves three times.
        ...{
          from: zeroAddress,
          to: walletAddress((id % 300_000) + 1),
          tokenId: BigInt(index === 1 ? id % 500_000 : id),
        },
        transactionHash,
      })
      return { contract, block, transactionIndex: 500 * index + at, logIndex: 500 * index + at, batchIndex: 0, payload }
    })
  })
}

async function fill(store: Store): Promise<void> {
  for (let from = 1; from <= head; ) {
    const to = Math.min(head, from + (from < dense.from - 2_000 ? 2_000 : 50) - 1)
    const blocks = Array.from({ length: to - from + 1 }, (_, at) => blockAt(from + at))
    await store.commitCold({
      ...{ chain, blocks, activity: noActivity, transfers: blocks.flatMap(({ number }) => rowsOf(number)) },
      covered: [{ scope: 'full', from, to, evidence: 'receipts-root' }],
      ranges: [{ from, to, hash: blocks.at(-1)!.hash }],
    })
    from = to + 1
  }
  await store.addCoverage(chain, 'full', { from: 0, to: 0, evidence: 'bloom' })
  await store.putChainState(chain, { head: blockAt(head) })
  await store.putCheckpoint(checkpoint, 'filled')
}

type Attack = { statuses: Map<string, number>; stop: () => void }

/** So many requests a second, whether or not others are answered. */
function askedAtOnce(almanac: RunningAlmanac, attackers: readonly string[], contract: Address, lowest: number): Attack {
  const statuses = new Map<string, number>()
  const open = new Set<() => void>()
  let asked = 0
  const timer = setInterval(() => {
    const at = lowest + ((asked * 7_919) % (head - lowest))
    const path = `/api/v2/nft/${contract}/owners?limit=1&at_block=${at}`
    const headers = { 'x-api-key': attackers[asked++ % attackers.length]! }
    const count = (outcome: string) => statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
    const request = get(`${almanac.url}${path}`, { headers, agent: false }, response => {
      response.resume().on('close', () => open.delete(end))
      count(`${response.statusCode}`)
    })
    const end = () => void request.destroy()
    open.add(end)
    request.on('error', (error: NodeJS.ErrnoException) => {
      open.delete(end)
      count(error.code ?? error.message)
    })
  }, 1_000 / Number(values.rate))
  return {
    statuses,
    stop: () => {
      clearInterval(timer)
      for (const end of open) end()
    },
  }
}

function readSlowly(almanac: RunningAlmanac, attackers: readonly string[]): Attack {
  let asked = 0
  const request = () => {
    const path = `/api/v2.2/nft/${wide.contract}/owners?at_block=${head - 10_000 - ((asked * 7_919) % 90_000)}`
    return requestBytes(path, { accept: 'text/csv', 'x-api-key': attackers[asked++ % attackers.length]! })
  }
  const readers = slowReaders(almanac.url, Number(values.readers), request, {
    pages: 1,
    everyMs: 4_000,
    againMs: 1_000,
  })
  const statuses = new Map<string, number>()
  return {
    statuses,
    stop: () => {
      for (const [status, count] of readers.statuses) statuses.set(`${status}`, count)
      readers.close()
    },
  }
}

type Page = { name: string; path: () => string; accept?: string }
const random = (below: number) => Math.floor(Math.random() * below)
const pages: Page[] = [
  { name: 'transfers', path: () => `/api/v2/nft/${wide.contract}/transfers?to_block=${head - random(150_000)}` },
  { name: 'owners', path: () => `/api/v2/nft/${small.contract}/owners?at_block=${head - random(290)}` },
  { name: 'health', path: () => '/health' },
]

type Times = { times: Map<string, number[]>; failed: Map<string, number>; stop: () => Promise<void> }

/** Another key, which asks for one page after the other, and now and then for a whole list. */
function otherKey(almanac: RunningAlmanac, key: string): Times {
  const times = new Map(pages.map(({ name }) => [name, [] as number[]]))
  const failed = new Map<string, number>()
  let isStopped = false
  const fail = (what: string) => failed.set(what, (failed.get(what) ?? 0) + 1)
  const ask = async ({ name, path }: Page) => {
    let client = await Client.open(almanac.url)
    for (; !isStopped; await delay(20)) {
      const startedMs = performance.now()
      const status = await client.statusOf(requestBytes(path(), { 'x-api-key': key })).catch((error: Error) => error)
      times.get(name)!.push(performance.now() - startedMs)
      if (status !== 200) fail(`${name} ${status}`)
      if (typeof status === 'number') continue
      client.close()
      client = await Client.open(almanac.url).catch(() => client)
    }
    client.close()
  }
  const lists: number[] = []
  times.set('whole list', lists)
  const list = async () => {
    for (; !isStopped; await delay(2_000)) {
      const startedMs = performance.now()
      const outcome = await wholeList(`${almanac.url}/api/v2.2/nft/${small.contract}/owners`, key)
      lists.push(performance.now() - startedMs)
      if (outcome !== 'whole') fail(`whole list ${outcome}`)
    }
  }
  const asking = Promise.allSettled([...pages.map(ask), list()])
  return {
    times,
    failed,
    stop: async () => {
      isStopped = true
      await Promise.race([asking, delay(20_000)])
    },
  }
}

function wholeList(url: string, key: string): Promise<string> {
  return new Promise(resolve => {
    const request = get(url, { headers: { accept: 'text/csv', 'x-api-key': key }, agent: false }, response => {
      let last = ''
      response.on('data', (chunk: Buffer) => {
        last = (last + chunk.toString('latin1')).slice(-100)
      })
      response.on('close', () => resolve(last.includes('# complete rows=') ? 'whole' : `${response.statusCode}`))
    })
    request.on('error', error => resolve(error.message))
  })
}

type Used = { rssMb: number; cpuMs: number }

function usedBy({ processId }: RunningAlmanac): Used | undefined {
  try {
    const status = readFileSync(`/proc/${processId}/status`, 'utf8')
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return {
      rssMb: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_000),
      cpuMs: (Number(stat[11]) + Number(stat[12])) * 10,
    }
  } catch {
    return undefined
  }
}

/** Seconds until the service does next to nothing for a quarter of a second, and the processor time until then. */
async function untilIdle(almanac: RunningAlmanac): Promise<{ seconds: number; cpuMs: number }> {
  const startedMs = performance.now()
  const first = usedBy(almanac)?.cpuMs ?? 0
  for (let before = first; performance.now() < startedMs + 120_000; ) {
    await delay(250)
    const now = usedBy(almanac)?.cpuMs
    if (now === undefined) break
    if (now - before <= 50)
      return { seconds: Math.round((performance.now() - startedMs) / 100) / 10, cpuMs: now - first }
    before = now
  }
  return { seconds: Number.POSITIVE_INFINITY, cpuMs: (usedBy(almanac)?.cpuMs ?? first) - first }
}

async function measure(name: string, url: string, keys: { attackers: string[]; other: string }): Promise<boolean> {
  const group = memoryGroup(Number(values.megabytes))
  const almanac = await startAlmanac({ store: url, key: 'a-key-of-the-operator', runner: group.runner })
  let isEnded = false
  void almanac.ended.then(() => {
    isEnded = true
  })
  try {
    const before = otherKey(almanac, keys.other)
    await delay(3_000)
    await before.stop()
    const rssBefore = usedBy(almanac)!.rssMb
    let rssMost = rssBefore
    const watch = setInterval(() => {
      rssMost = Math.max(rssMost, usedBy(almanac)?.rssMb ?? 0)
    }, 100)
    const beside = otherKey(almanac, keys.other)
    const attack =
      name === 'readers'
        ? readSlowly(almanac, keys.attackers)
        : name === 'dense'
          ? askedAtOnce(almanac, keys.attackers, dense.contract, dense.from)
          : askedAtOnce(almanac, keys.attackers, wide.contract, head - 100_000)
    for (const endAt = performance.now() + seconds * 1_000; performance.now() < endAt && !isEnded; ) await delay(100)
    await beside.stop()
    attack.stop()
    const idle = isEnded ? undefined : await untilIdle(almanac)
    await delay(0)
    const after = isEnded ? undefined : otherKey(almanac, keys.other)
    await delay(isEnded ? 0 : 3_000)
    await after?.stop()
    clearInterval(watch)
    const p99 = ({ times }: Times) =>
      Object.fromEntries([...times].map(([page, all]) => [page, Math.round(percentile(all, 0.99))]))
    const result = {
      ...{ case: name, store: values.store, memory: group.says, seconds, keys: keys.attackers.length, ended: isEnded },
      residentMb: { before: rssBefore, most: rssMost, after: usedBy(almanac)?.rssMb },
      grownMb: rssMost - rssBefore,
      p99Ms: { before: p99(before), beside: p99(beside), after: after && p99(after) },
      otherKeyFailed: Object.fromEntries([...beside.failed, ...(after?.failed ?? [])]),
      attack: Object.fromEntries(attack.statuses),
      idle,
    }
    console.log(JSON.stringify(result))
    const { transfers = 0, owners = 0 } = result.p99Ms.beside
    return (
      !isEnded &&
      result.grownMb <= bars.grownMb &&
      Math.max(transfers, owners) <= bars.pageP99Ms &&
      idle!.seconds <= bars.normalSeconds
    )
  } finally {
    await almanac.stop()
    group.remove()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const postgres = values.store === 'postgres' ? await startPostgres() : undefined
try {
  const file = values.store.startsWith('file:') ? values.store : `file:${join(folder, 'attacked.db')}`
  const url = postgres ? await postgres.createDatabase() : file
  const store = await openStore(url, { role: 'owner' })
  if ((await store.checkpoint(checkpoint)) === undefined) await fill(store)
  const keyed = async (name: string) =>
    (await issueKey(store, { name, scopes: ['nft-transfers', 'nft-holdings'] as Scope[], ...usualLimits })).secret
  const attackers = await Promise.all(Array.from({ length: Number(values.keys) }, (_, at) => keyed(`attacker ${at}`)))
  const other = (await issueKey(store, { name: 'other', scopes: ['nft-transfers', 'nft-holdings'] as Scope[] })).secret
  await store.close()
  console.log(`filled: ${JSON.stringify({ wide: 600_000, dense: 1_500_000, bars })}`)
  for (const name of values.case) if (!(await measure(name, url, { attackers, other }))) process.exitCode = 1
} finally {
  await postgres?.stop()
  rmSync(folder, { recursive: true })
}
