// Forgetting as an operator does it: killed in between, with the room returned to the disk, and by command.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Address, ChainId, Hash, TransferRow } from '../src/model.ts'
import { finishForgetting } from '../src/store/forget.ts'
import { checkFile, openStore } from '../src/store/open.ts'
import { packActivity } from '../src/store/packed-activity.ts'
import { compactFile, roomOf } from '../src/store/sqlite/backup.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { ForgetTarget, Store } from '../src/store/store.ts'
import { busiest, chainId, chainsOf, expectTruth, place, placeEachTest, simulate } from './chain-commands.ts'
import { packTransfer } from './pack-transfer.ts'
import { countIn } from './store-tables.ts'

placeEachTest()

const eth = 1 as ChainId
const polygon = 0x89 as ChainId
const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}` as Address
const hashOf = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}` as Hash
const contracts = Array.from({ length: 12 }, (_, at) => addressOf(0xc0 + at))
const [large] = contracts as [Address]

let folder: string
let filled: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-forget-'))
  filled = join(folder, 'filled.db')
  const store = await openSqliteStore(filled, { role: 'owner', foldBlocks: 1 })
  for (const chain of [eth, polygon]) await fill(store, chain)
  await store.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs of several levels, with rows that were taken out of them, and tables. */
async function fill(store: Store, chain: ChainId): Promise<void> {
  const payload = packTransfer({
    ...{ standard: 'ERC721', batch: false, from: addressOf(1), to: addressOf(2), operator: undefined },
    ...{ tokenId: 1n, amount: 1n, value: 0n, transactionHash: hashOf(5), idCount: 1 },
  })
  const row = (block: number, logIndex: number): TransferRow => ({
    ...{ block, transactionIndex: 0, logIndex, batchIndex: 0, payload },
    contract: contracts[logIndex % 3 === 0 ? (block + logIndex) % contracts.length : 0]!,
  })
  for (let commit = 0; commit < 20; commit++) {
    const numbers = Array.from({ length: 10 }, (_, at) => commit * 10 + at)
    const blocks = numbers.map(number => ({ number, hash: hashOf(number), timestamp: number }))
    const range = { from: numbers[0]!, to: numbers.at(-1)!, hash: hashOf(numbers.at(-1)!) }
    const isBulk = commit % 5 !== 4
    const wallets = numbers.flatMap(block =>
      Array.from({ length: 30 }, (_, at) => {
        const ref = { block, transactionIndex: at, hash: hashOf(at), timestamp: block }
        return { address: addressOf(2 ** 24 * (at * 7 + 1) + block), first: ref, last: ref }
      }),
    )
    await store.commitCold({
      ...{ chain, covered: [{ from: range.from, to: range.to, evidence: 'bloom', scope: 'full' }], blocks },
      ...(isBulk ? { ranges: [range] } : {}),
      transfers: numbers.flatMap(block => Array.from({ length: 40 }, (_, at) => row(block, at))),
      activity: packActivity(wallets),
    })
  }
  await store.dropRange(chain, contracts[1]!, { from: 20, to: 60 })
}

async function readAll(url: string): Promise<unknown> {
  const store = await openStore(url, { role: 'owner', mustExist: true })
  try {
    const ofChain = async (chain: ChainId) => ({
      state: await store.chainState(chain),
      covered: await store.coverage(chain),
      contracts: await store.contractsOf(chain, undefined, 100),
      counts: await Promise.all(contracts.map(contract => store.transferCount({ chain, contract }))),
      claims: await Promise.all(contracts.map(contract => store.contractCoverage(chain, contract))),
      wallets: await store.activityWithin(chain, { from: 0, to: 1_000 }, { after: undefined, limit: 10_000 }),
      runs: (await store.runs()).filter(run => run.chain === chain),
    })
    return { eth: await ofChain(eth), polygon: await ofChain(polygon) }
  } finally {
    await store.close()
  }
}

/** Runs the forgetter, killed while it does the step after so many. */
async function killAfter(steps: number, url: string, what: ForgetTarget): Promise<void> {
  const script = fileURLToPath(new URL('./store-forgetter.ts', import.meta.url))
  const child = spawn(process.execPath, [script, url, JSON.stringify(what)])
  let seen = ''
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk
    child.stdin.write('go\n')
    if (seen.split('\n').length > steps) setTimeout(() => child.kill('SIGKILL'), 2)
  })
  child.stdin.on('error', () => {})
  child.stdin.write('go\n')
  await once(child, 'close')
  expect(child.signalCode).toBe('SIGKILL')
  expect(seen).not.toContain('done')
}

describe('forgetting that is killed', () => {
  test.each([
    { what: { chain: eth } },
    { what: { chain: eth, contract: large } },
    { what: { chain: eth, view: 'activity' } },
  ] as { what: ForgetTarget }[])('$what ends as the undisturbed one', async ({ what }) => {
    const [calm, killed] = ['calm.db', 'killed.db'].map(name => join(folder, name)) as [string, string]
    for (const path of [calm, killed]) copyFileSync(filled, path)
    const undisturbed = await openStore(`file:${calm}`, { role: 'owner' })
    while (!(await undisturbed.forgetStep(what, 60)).done);
    await undisturbed.close()
    for (const steps of [3, 4]) await killAfter(steps, `file:${killed}`, what)
    const store = await openStore(`file:${killed}`, { role: 'owner' })
    await finishForgetting(store, eth)
    await store.close()
    expect(await readAll(`file:${killed}`)).toEqual(await readAll(`file:${calm}`))
    expect(await checkFile(`file:${killed}`)).toBe('ok')
    const count = (sql: string) => countIn(`file:${killed}`, sql)
    expect(await count('SELECT count(*) FROM packs')).toBeGreaterThan(0)
    expect(await count('SELECT count(*) FROM packs WHERE (slot, run) NOT IN (SELECT slot, id FROM runs)')).toBe(0)
    for (const path of [calm, killed]) rmSync(path)
  })
})

describe('compacting', () => {
  test('a file keeps what it holds in less room, and is in use by nobody else meanwhile', async () => {
    const path = join(folder, 'compacted.db')
    copyFileSync(filled, path)
    const url = `file:${path}`
    const store = await openStore(url, { role: 'owner' })
    while (!(await store.forgetStep({ chain: eth }, 5_000)).done);
    await store.close()
    const [before, room] = [await readAll(url), roomOf(path)]
    expect(room.usedBytes).toBeLessThan(0.7 * room.bytes)
    const reader = await openStore(url, { role: 'reader' })
    await reader.chainState(eth)
    await expect(compactFile(path)).rejects.toMatchObject({ code: 'store_locked' })
    await reader.close()
    await expect(compactFile(path, { ...room, freeBytes: room.usedBytes - 1 })).rejects.toMatchObject({
      ...{ code: 'store_full', message: expect.stringContaining('MB are free') },
    })
    const sizes = await compactFile(path)
    expect(sizes).toEqual({ before: room.bytes, after: statSync(path).size })
    expect(sizes.after).toBeLessThanOrEqual(room.usedBytes)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).filter(name => /compacted.*(partial|journal|wal)/.test(name))).toEqual([])
    expect(await readAll(url)).toEqual(before)
    expect(await countIn(url, "SELECT journal_mode = 'wal' FROM pragma_journal_mode")).toBe(1)
    expect(await checkFile(url)).toBe('ok')
  })

  test('a file that a killed compaction left without a log gets it back', async () => {
    const path = join(folder, 'unlogged.db')
    copyFileSync(filled, path)
    const file = new DatabaseSync(path)
    file.exec('PRAGMA journal_mode = DELETE')
    file.close()
    await (await openStore(`file:${path}`, { role: 'reader' })).close()
    expect(await countIn(`file:${path}`, "SELECT journal_mode = 'wal' FROM pragma_journal_mode")).toBe(1)
  })
})

describe('almanac forget', () => {
  /** Cut off after claims are gone. */
  async function begin(): Promise<void> {
    const store = await openStore(place.storeUrl, { role: 'owner' })
    await store.forgetStep({ chain: chainId as ChainId }, 100)
    await store.close()
  }

  function isForgetting(): Promise<boolean> {
    return countIn(place.storeUrl, "SELECT count(*) FROM checkpoints WHERE name LIKE 'forget/%'").then(Boolean)
  }

  test('asks first, removes, says what comes back, and what was begun is finished before anything is indexed', async () => {
    const node = await simulate()
    const sync = ['sync', '--chain', 'sim', '--from', '0', '--to', '200']
    expect(await place.runHere(sync)).toMatchObject({ code: 0 })
    const asked = await place.run(['forget', 'sim'])
    expect(asked).toMatchObject({ code: 1, stdout: '' })
    expect(asked.stderr).toMatch(
      /^Error: Forget sim: about [\d,]+ transfers .*, (?:[\d.]+ kB|\d\.\d MB)\? Stdin is not a terminal\. Nothing was changed\.\n/,
    )
    const contract = busiest(node)
    const ofContract = await place.runHere(['forget', 'sim', '--contract', contract, '--yes'])
    expect(ofContract.stdout).toMatch(/^sim 0x\w+ is forgotten\. .* free for new rows.*\nsim is indexed in full: /)
    const owner = await openStore(place.storeUrl, { role: 'owner' })
    expect(await owner.transferCount({ chain: chainId as ChainId, contract })).toBe(0)
    const busy = await place.runHere(['forget', 'sim', '--yes'])
    expect(busy).toMatchObject({ code: 1, stdout: '' })
    expect(busy.stderr).toContain('Try:   stop it first')
    await owner.close()
    await begin()
    expect(await place.runHere(sync)).toMatchObject({ code: 0 })
    await expectTruth(node, { from: 0, to: 200 })
    expect(await isForgetting()).toBe(false)
    await begin()
    const service = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_OPS_OPEN: 'true' })
    await service.until(async () => (await chainsOf(service)).sim?.complete === true, 'the chain is complete')
    expect(await isForgetting()).toBe(false)
    service.child.kill('SIGTERM')
    await service.ended()
    const view = await place.runHere(['forget', 'sim', '--view', 'activity', '--yes'])
    expect(view.stdout).toContain('Set chains.sim.views to [transfers]')
    const all = await place.runHere(['forget', 'sim', '--yes', '--json', '--compact'])
    const { transfers, bytes_before, bytes_after, next } = JSON.parse(all.stdout)
    expect(transfers).toBeGreaterThan(100)
    expect(bytes_after).toBeLessThan(bytes_before)
    expect(next).toEqual(['The next start indexes it again. Remove chains.sim from the configuration to prevent that.'])
    const nothing = await place.runHere(['forget', 'sim', '--yes'])
    expect(nothing).toMatchObject({ code: 1, stdout: '' })
    expect(nothing.stderr).toContain('Error: The store holds nothing of sim.')
  })
})
