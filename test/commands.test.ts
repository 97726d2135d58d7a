// The commands that work on chains, as real processes against a simulated node: plan, sync and verify.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../src/model.ts'
import { activityGaps } from '../src/store/activity-gaps.ts'
import { openStore } from '../src/store/open.ts'
import { CommandPlace, type CommandRun, makeStore } from './command-run.ts'
import { storedTransfers, truthByContract } from './evm-harness.ts'
import { forgedResults } from './sim/hostile.ts'
import { type SimNode, type SimNodeOptions, startSimNode } from './sim/node.ts'
import type { SimChainOptions } from './sim/options.ts'
import { startOtherHistory } from './sim/other-history.ts'
import { expectedActivity } from './sim/truth.ts'

const chainId = 31_337
const cleanups: (() => Promise<void>)[] = []
let place: CommandPlace

beforeEach(() => {
  place = new CommandPlace()
  cleanups.push(() => place.dispose())
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

type Simulated = Omit<SimNodeOptions, 'chain'> & { chain?: Partial<SimChainOptions> }

/** Enough to tell right from wrong; what a block costs is measured on fuller ones. */
const lightBlocks = { transactionsPerBlock: 5, logsPerCall: 2 } satisfies Partial<SimChainOptions>
const fullBlocks = { transactionsPerBlock: 8, logsPerCall: 3 } satisfies Partial<SimChainOptions>

/** A node whose final block is 64 below its head, and a configuration that names it. */
async function simulate(options: Simulated = {}, settings: object = { index: 'full' }): Promise<SimNode> {
  const { chain, ...rest } = options
  const node = await startSimNode({
    chain: { chainId, height: 364, hashes: 'real', ...lightBlocks, ...chain },
    ...rest,
  })
  cleanups.push(() => node.close())
  place.configure({ sim: { id: chainId, rpc: node.endpoints.map(({ url }) => url), ...settings } })
  return node
}

test('sync and verify count what they ask for under the daily budget of the service', async () => {
  await simulate({ chain: { height: 80 } }, { index: 'full', daily_budget: 10_000 })
  const spent = async () => {
    const store = await openStore(place.storeUrl, { role: 'tool' })
    const text = await store.checkpoint('budget/chains.sim.daily_budget')
    await store.close()
    return (JSON.parse(text ?? '{"spent":0}') as { spent: number }).spent
  }
  await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '15'])
  const bySync = await spent()
  expect(bySync).toBeGreaterThan(15)
  await place.run(['verify', '--chain', 'sim', '--from', '0', '--to', '15'])
  expect(await spent()).toBeGreaterThan(bySync + 15)
})

async function expectTruth(node: SimNode, range: { from: number; to: number }, only?: Address): Promise<void> {
  const store = await openStore(place.storeUrl, { role: 'tool' })
  try {
    const truth = truthByContract(node.chain, range)
    expect(truth.size).toBeGreaterThan(3)
    for (const [contract, expected] of truth) {
      const wanted = only === undefined || only === contract ? expected : []
      expect(await storedTransfers(store, node.chain, contract)).toEqual(wanted)
    }
  } finally {
    await store.close()
  }
}

/** What a service with open operations says of its chains. */
async function chainsOf(service: CommandRun): Promise<Record<string, { state: string; complete: boolean }>> {
  const url = await service.listening()
  return ((await (await fetch(`${url}/status`)).json()) as { chains: Awaited<ReturnType<typeof chainsOf>> }).chains
}

function busiest(node: SimNode): Address {
  const truth = [...truthByContract(node.chain, { from: 0, to: node.chain.finalized })]
  return truth.sort((a, b) => b[1].length - a[1].length)[0]![0]
}

/** Changes the file behind the service's back. */
function alter(...statements: readonly string[]): void {
  const database = new DatabaseSync(place.storeFile)
  for (const statement of statements) expect(database.prepare(statement).run().changes, statement).toBe(1)
  database.close()
}

describe('sync', () => {
  test('stores one range of a full chain and says what it did; a repeat reads nothing', async () => {
    const node = await simulate()
    const parameters = ['sync', '--chain', 'sim', '--from', '100', '--to', '299']
    const first = await place.run([...parameters, '--json'])
    expect(first).toMatchObject({ code: 0 })
    const summary = JSON.parse(first.stdout)
    expect(summary).toMatchObject({ chain: 'sim', from: 100, to: 299, blocks_present: 0, blocks_read: 200 })
    expect(summary.transfers).toBeGreaterThan(100)
    await expectTruth(node, { from: 100, to: 299 })
    const again = await place.run(parameters)
    expect(again).toMatchObject({ code: 0 })
    expect(again.stdout).toContain('0 blocks read, 200 already stored')
  })

  test('stores the configured contracts of an on-demand chain, or those of --contract', async () => {
    const node = await simulate()
    const contract = busiest(node)
    place.configure({ sim: { id: chainId, rpc: node.url, contracts: [contract] } })
    expect(await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '300'])).toMatchObject({ code: 0 })
    await expectTruth(node, { from: 0, to: 300 }, contract)
    const other = [...truthByContract(node.chain, { from: 0, to: 300 }).keys()].find(one => one !== contract)!
    const run = await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '300', '--contract', other, '--json'])
    expect(JSON.parse(run.stdout)).toMatchObject({ contracts: [other], blocks_read: 301 })
  })

  test('continues after kill -9', async () => {
    const node = await simulate({
      chain: { height: 664, hashes: 'cheap' },
      endpoints: [{ faults: [{ kind: 'latency', delayMs: 60 }] }],
    })
    const parameters = ['sync', '--chain', 'sim', '--from', '0', '--to', '600']
    const killed = place.begin(parameters)
    const database = () => new DatabaseSync(place.storeFile, { readOnly: true })
    await killed.until(() => {
      try {
        using open = database()
        return open.prepare('SELECT 1 FROM coverage').get() !== undefined
      } catch {
        return false
      }
    }, 'a first commit')
    await killed.kill()
    expect(killed.child.signalCode).toBe('SIGKILL')
    node.endpoints[0]!.faults = []
    const rest = await place.run([...parameters, '--json'])
    expect(rest.code).toBe(0)
    const { blocks_present, blocks_read } = JSON.parse(rest.stdout)
    expect(blocks_present).toBeGreaterThan(0)
    expect(blocks_read).toBeGreaterThan(0)
    expect(blocks_present + blocks_read).toBe(601)
    await expectTruth(node, { from: 0, to: 600 })
    expect(await place.run(['verify', '--chain', 'sim', '--from', '0', '--to', '600'])).toMatchObject({ code: 0 })
  })

  test('the first signal stops it after the commit under way with 130, and a repeat continues', async () => {
    const node = await simulate({
      chain: { height: 664, hashes: 'cheap' },
      endpoints: [{ faults: [{ kind: 'latency', delayMs: 400 }] }],
    })
    const parameters = ['sync', '--chain', 'sim', '--from', '0', '--to', '600']
    const stopped = place.begin(parameters)
    // More than is asked at once to begin with, so that something is stored by then.
    await stopped.until(() => (node.endpoints[0]!.calls.get('eth_getBlockByNumber') ?? 0) > 120, 'some reading')
    stopped.child.kill('SIGINT')
    const { code, stderr, stdout } = await stopped.ended()
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
    expect(stderr).toMatch(/Stopped with \d+ of 601 missing blocks .*\nTry: {3}run the same command again/)
    node.endpoints[0]!.faults = []
    const rest = JSON.parse((await place.run([...parameters, '--json'])).stdout)
    expect(rest.blocks_present).toBe(Number(/with (\d+) of/.exec(stderr)?.[1]))
    expect(rest.blocks_present).toBeGreaterThan(0)
    await expectTruth(node, { from: 0, to: 600 })
  })

  test('is refused beside a service that indexes into the same file', async () => {
    await simulate()
    const service = place.begin(['start', '--listen', '127.0.0.1:0'])
    await service.listening()
    const { code, stdout, stderr } = await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '9'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^Error: Another process is already indexing into the store .*\nTry: {3}stop it first/)
  })

  test('blocks that were hot when the service stopped and are gone from the chain do not become final', async () => {
    const node = await simulate({ chain: { height: 300 } })
    const service = place.begin(['start', '--listen', '127.0.0.1:0'], {
      ALMANAC_KEY: 'the-operator-key',
      ALMANAC_OPS_OPEN: 'true',
    })
    await service.listening()
    await service.until(async () => (await chainsOf(service)).sim?.complete === true, 'completeness')
    service.child.kill('SIGTERM')
    expect(await service.ended()).toMatchObject({ code: 0 })
    node.reorg({ depth: 20, length: 120 })
    expect(await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '330'])).toMatchObject({ code: 0 })
    await expectTruth(node, { from: 0, to: 330 })
  })
})

describe('chain unfinalize', () => {
  test('asks first, takes back what is above, and the service then follows the chain as it is', async () => {
    const node = await simulate()
    expect(await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '300'])).toMatchObject({ code: 0 })
    const parameters = ['chain', 'unfinalize', 'sim', '--to', '120']
    const asked = await place.run(parameters)
    expect(asked).toMatchObject({ code: 1, stdout: '' })
    expect(asked.stderr).toContain('Nothing was changed.')
    await expectTruth(node, { from: 0, to: 300 })
    const taken = await place.run([...parameters, '--yes', '--json'])
    expect(JSON.parse(taken.stdout)).toEqual({ chain: 'sim', finalized: 120, before: 300 })
    await expectTruth(node, { from: 0, to: 120 })
    const store = await openStore(place.storeUrl, { role: 'tool' })
    const activity = [...expectedActivity(node.chain, { from: 0, to: 300 })]
    const cut = activity.filter(([, { first, last }]) => first.block <= 120 && last.block > 120)
    expect(cut.length).toBeGreaterThan(0)
    expect(cut.length).toBeLessThan(activity.length)
    for (const entry of activity)
      expect([...(await activityGaps(store, entry[0]))]).toEqual(
        cut.includes(entry) ? [[node.chain.options.chainId, 120]] : [],
      )
    await store.close()
    const above = await place.run(['chain', 'unfinalize', 'sim', '--to', '120', '--yes'])
    expect(above.stderr).toContain('sim cannot be taken back to block 120: its highest final block is 120.')
    node.chain.finalize(100)
    node.reorg({ depth: 200, length: 210 })
    node.chain.finalize(undefined)
    const service = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_OPS_OPEN: 'true' })
    await service.until(async () => (await chainsOf(service)).sim?.complete === true, 'the chain is complete')
    expect(await place.run([...parameters, '--yes'])).toMatchObject({ code: 1, stdout: '' })
    await expectTruth(node, { from: 0, to: node.chain.head })
  })
})

describe('verify', () => {
  const whole = ['verify', '--chain', 'sim', '--from', '0', '--to', '299']

  async function synced(options?: Simulated, settings?: object): Promise<SimNode> {
    const node = await simulate(options, settings)
    expect(await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '299'])).toMatchObject({ code: 0 })
    return node
  }

  async function differences(parameters = whole) {
    const { code, stdout } = await place.run([...parameters, '--json'])
    const report = JSON.parse(stdout)
    expect(code).toBe(report.same ? 0 : 1)
    return report as { differences: Record<string, unknown>[]; differences_by_kind: object; blocks: number }
  }

  test('an untouched store is the same, given and random ranges alike', async () => {
    const node = await synced()
    const given = await place.run(whole)
    expect(given).toMatchObject({ code: 0 })
    expect(given.stdout).toContain('sim is the same in the store as on the chain: 300 blocks in 1 range')
    const random = await differences(['verify', '--chain', 'sim', '--samples', '3', '--blocks', '20'])
    expect(random).toMatchObject({ same: true, differences_total: 0 })
    expect(random.blocks).toBeGreaterThan(3)
    expect(random.blocks).toBeLessThanOrEqual(60)
    expect(node.endpoints[0]!.requests).toBeGreaterThan(0)
  })

  test('finds a removed, an altered and an added row, and says which', async () => {
    await synced()
    const database = new DatabaseSync(place.storeFile)
    const [removed, altered] = database
      .prepare(
        'SELECT contract, block, tx, log, pos, hex(address) AS address FROM transfers JOIN contracts ON id = contract WHERE block > 50 AND length(payload) > 80 GROUP BY contract HAVING count(*) > 3 LIMIT 2',
      )
      .all() as { contract: number; block: number; tx: number; log: number; pos: number; address: string }[]
    database.close()
    const at = ({ contract, block, tx, log, pos }: typeof removed & {}) =>
      `contract = ${contract} AND block = ${block} AND tx = ${tx} AND log = ${log} AND pos = ${pos}`
    alter(
      `DELETE FROM transfers WHERE ${at(removed!)}`,
      // The last byte of the recipient.
      `UPDATE transfers SET payload = CAST(substr(payload, 1, 55) || x'ee' || substr(payload, 57) AS BLOB) WHERE ${at(altered!)}`,
      `INSERT INTO transfers SELECT contract, block, tx, 9999, pos, payload FROM transfers WHERE ${at(altered!)}`,
    )
    const report = await differences()
    expect(report.differences_by_kind).toEqual({ missing: 1, altered: 1, unexpected: 1 })
    const byKind = Object.fromEntries(report.differences.map(difference => [difference.kind, difference]))
    expect(byKind.missing).toMatchObject({ block: removed!.block, contract: `0x${removed!.address.toLowerCase()}` })
    expect(byKind.altered).toMatchObject({
      block: altered!.block,
      contract: `0x${altered!.address.toLowerCase()}`,
      position: { transactionIndex: altered!.tx, logIndex: altered!.log, batchIndex: altered!.pos },
      detail: expect.stringMatching(/^to is stored as 0x\w{38}ee; the chain has 0x\w{40}$/),
    })
    expect(byKind.unexpected).toMatchObject({ block: altered!.block, position: { logIndex: 9999 } })
    const text = await place.run(whole)
    expect(text.code).toBe(1)
    expect(text.stdout).toMatch(
      /missing {4}block \d+ transaction \d+ log \d+( item \d+)? 0x\w{40}: the store lacks ERC/,
    )
    expect(text.stdout).toMatch(/altered {4}block/)
    expect(text.stdout).toContain('the chain does not have')
    expect(text.stdout).toMatch(/sim differs: \d \w+, \d \w+, \d \w+, in 300 blocks/)
  })

  test.each([{ index: 'full' }, { index: 'on-demand' }])('repairs what differs, and says so: %j', async ({ index }) => {
    const node = await simulate(undefined, { index })
    const contract = busiest(node)
    const only = index === 'full' ? [] : ['--contract', contract]
    expect(await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '299', ...only])).toMatchObject({
      code: 0,
    })
    const rows =
      index === 'full' ? '' : `contract = (SELECT id FROM contracts WHERE address = x'${contract.slice(2)}') AND`
    const one = `(SELECT contract, block, tx, log, pos FROM transfers WHERE ${rows} block > 50 LIMIT 1)`
    alter(
      `DELETE FROM transfers WHERE (contract, block, tx, log, pos) = ${one}`,
      `INSERT INTO transfers SELECT contract, block, tx, 9999, pos, payload FROM transfers WHERE (contract, block, tx, log, pos) = ${one}`,
    )
    const before = await differences([...whole, ...only])
    expect(before.differences_by_kind).toEqual({ missing: 1, unexpected: 1 })
    const text = await place.run([...whole, ...only, '--repair'])
    expect(text).toMatchObject({ code: 0 })
    expect(text.stdout).toContain('sim differs: ')
    expect(text.stdout).toContain('Dropped and indexed again: 1 range.')
    expect(text.stdout).toContain('sim is the same in the store as on the chain')
    expect(await differences([...whole, ...only])).toMatchObject({ same: true })
    expect(await differences([...whole, ...only, '--repair'])).not.toHaveProperty('repaired')
  })

  test('finds rows of a contract that the node does not report at all', async () => {
    await synced()
    alter(
      "INSERT INTO contracts (id, chain, address) SELECT 777777, chain, x'00000000000000000000000000000000000000aa' FROM contracts LIMIT 1",
      'INSERT INTO transfers SELECT 777777, block, tx, log, pos, payload FROM transfers WHERE block = 200 LIMIT 1',
    )
    const { differences: found } = await differences()
    expect(found).toEqual([
      expect.objectContaining({
        kind: 'unexpected',
        block: 200,
        contract: '0x00000000000000000000000000000000000000aa',
      }),
    ])
    // The rows of other blocks are still the same.
    await expect(differences(['verify', '--chain', 'sim', '--from', '0', '--to', '199'])).resolves.toMatchObject({
      same: true,
    })
  })

  test('finds a payload of another length, a block with another hash and wrong activity', async () => {
    await synced()
    alter(
      "UPDATE transfers SET payload = x'01' WHERE (contract, block, tx, log, pos) = (SELECT contract, block, tx, log, pos FROM transfers WHERE block = 120 LIMIT 1)",
    )
    alter('UPDATE blocks SET hash = zeroblob(32) WHERE key % 1099511627776 = 1099511627775 - 150')
    alter(
      'UPDATE activity SET last = coalesce(last, first), first = unhex(substr(hex(first), 1, 22) || hex(zeroblob(32))) WHERE address = (SELECT max(address) FROM activity)',
    )
    alter('DELETE FROM activity WHERE address = (SELECT min(address) FROM activity)')
    const { differences_by_kind: kinds } = await differences()
    expect(kinds).toEqual({ altered: 1, block: 1, activity: 2 })
  })

  test('a wallet that never was is found and taken back, and one with a wrong first transaction is marked', async () => {
    await synced()
    const never = `0x${'66'.repeat(20)}` as Address
    const database = new DatabaseSync(place.storeFile)
    const late = database
      .prepare("SELECT hex(address) AS address FROM activity WHERE first > x'000000c8' LIMIT 1")
      .get()
    database.close()
    const wallet = `0x${String(late?.address).toLowerCase()}` as Address
    const early = "(SELECT first FROM activity WHERE first > x'0000001e' AND first < x'00000028' LIMIT 1)"
    alter(
      `UPDATE activity SET last = coalesce(last, first), first = ${early} WHERE address = x'${wallet.slice(2)}'`,
      `INSERT INTO activity SELECT x'${never.slice(2)}', chain, ${early}, NULL FROM activity LIMIT 1`,
    )
    const report = await differences(['verify', '--chain', 'sim', '--from', '20', '--to', '60'])
    expect(report.differences_by_kind).toEqual({ activity: 2 })
    for (const address of [never, wallet])
      expect(report.differences).toContainEqual(
        expect.objectContaining({ address, detail: expect.stringContaining('the chain does not have its activity') }),
      )
    const gapsAfter = async (from: number, to: number) => {
      const range = ['--from', `${from}`, '--to', `${to}`]
      expect(await place.run(['verify', '--chain', 'sim', ...range, '--repair'])).toMatchObject({ code: 0 })
      const store = await openStore(place.storeUrl, { role: 'tool' })
      expect(await store.activityOf(never)).toEqual(new Map())
      const gaps = [await activityGaps(store, never), await activityGaps(store, wallet)]
      await store.close()
      return gaps.map(each => [...each.keys()])
    }
    expect(await gapsAfter(20, 60)).toEqual([[chainId], [chainId]])
    // A range that holds all that is claimed derives everything again.
    alter(`INSERT INTO activity SELECT x'${never.slice(2)}', chain, ${early}, NULL FROM activity LIMIT 1`)
    expect(await gapsAfter(0, 299)).toEqual([[], [chainId]])
    expect(await differences()).toMatchObject({ same: true })
  })

  test('endpoints that disagree are told, and nothing is repaired', async () => {
    const node = await synced()
    const chain = { chainId, height: 364, hashes: 'real', ...lightBlocks, seed: 99 } as const
    const other = await startSimNode({ chain })
    const liar = await startOtherHistory(node, other, 100)
    cleanups.push(
      () => other.close(),
      () => liar.close(),
    )
    const down = 'http://127.0.0.1:9'
    const rpc = [liar.url, node.endpoints[0]!.url]
    const configure = (urls: string[]) => place.configure({ sim: { id: chainId, rpc: urls, index: 'full' } })
    configure([node.endpoints[0]!.url, down])
    expect(await differences()).toMatchObject({ same: true, endpoints: [{}, { silent: expect.stringContaining('') }] })
    configure(rpc)
    const report = await differences()
    expect(report.differences_by_kind).toEqual({ endpoints: expect.any(Number) })
    expect(report.differences[0]).toMatchObject({
      kind: 'endpoints',
      detail: expect.stringMatching(/^127\.0\.0\.1:\d+ has 0x\w{64}; 127\.0\.0\.1:\d+ has 0x\w{64}$/),
    })
    const text = await place.run([...whole, '--repair'])
    expect(text).toMatchObject({ code: 1 })
    expect(text.stdout).toContain('The endpoints disagree on 1 range: neither compared nor repaired.')
    await expectTruth(node, { from: 0, to: 299 })
    configure([node.endpoints[0]!.url])
    expect(await differences()).toMatchObject({ same: true })
  })

  test('senders are recovered as configured', async () => {
    const settings = { index: 'full', sender_sample: 0 }
    const node = await simulate({ chain: { height: 104, signed: true } }, settings)
    const from = `0x${'bad0'.repeat(10)}`
    node.endpoints[0]!.forgery = forgedResults(['eth_getBlockByNumber'], ({ transactions, ...block }) => ({
      ...block,
      transactions: transactions.map((each: object) => (typeof each === 'string' ? each : { ...each, from })),
    }))
    const parameters = ['--chain', 'sim', '--from', '30', '--to', '39']
    expect(await place.run(['sync', ...parameters])).toMatchObject({ code: 0 })
    place.configure({ sim: { id: chainId, rpc: [node.endpoints[0]!.url], ...settings, sender_sample: 1 } })
    const { code, stderr } = await place.run(['verify', ...parameters])
    expect(code).not.toBe(0)
    expect(stderr).toContain('signed it, the node says')
  })

  test('rows that wait for their claim are compared as well', async () => {
    await synced()
    alter(
      "UPDATE coverage SET from_block = 100 WHERE scope = 'full'",
      'INSERT INTO pending_ranges SELECT key / 1099511627776, 0, 99, hash FROM blocks LIMIT 1',
      'INSERT INTO transfers SELECT contract, block, tx, 9999, pos, payload FROM transfers WHERE block = 50 LIMIT 1',
      'DELETE FROM transfers WHERE (contract, block, tx, log, pos) = (SELECT contract, block, tx, log, pos FROM transfers WHERE block = 60 LIMIT 1)',
    )
    const report = await differences()
    expect(report.differences_by_kind).toEqual({ unexpected: 1 })
    expect(report.differences).toEqual([expect.objectContaining({ kind: 'unexpected', block: 50 })])
    expect(await place.run([...whole, '--repair'])).toMatchObject({ code: 0 })
    expect(await differences()).toMatchObject({ same: true })
  })

  test('a claim of a stronger proof than the node gives is a difference', async () => {
    const faults = [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }] as const
    await synced({ endpoints: [{ faults }] })
    expect(await differences()).toMatchObject({ same: true })
    alter("UPDATE coverage SET evidence = 'receipts-root' WHERE scope = 'full'")
    expect((await differences()).differences[0]).toMatchObject({
      kind: 'evidence',
      detail: expect.stringContaining('recorded as proven by receipts-root; the endpoints prove them by bloom'),
    })
  })

  test('works on an on-demand chain, with and without --contract', async () => {
    const node = await simulate()
    const contract = busiest(node)
    await synced({}, { contracts: [contract] })
    expect(await differences()).toMatchObject({ same: true, ranges: [{ contract }] })
    alter(
      'DELETE FROM transfers WHERE (contract, block, tx, log, pos) = (SELECT contract, block, tx, log, pos FROM transfers LIMIT 1)',
    )
    for (const parameters of [whole, [...whole, '--contract', contract], ['verify', '--chain', 'sim']])
      expect((await differences(parameters)).differences_by_kind).toEqual({ missing: 1 })
  })

  test('works beside a running service', async () => {
    await simulate()
    const service = place.begin(['start', '--listen', '127.0.0.1:0', '--ops-open'], { ALMANAC_KEY: 'the-operator-key' })
    await service.listening()
    await service.until(async () => (await chainsOf(service)).sim?.complete === true, 'completeness')
    expect(await place.run(whole)).toMatchObject({ code: 0 })
    service.child.kill('SIGTERM')
    expect(await service.ended()).toMatchObject({ code: 0 })
  })
})

describe('plan', () => {
  /** Of one endpoint, every call of a batch counted. */
  const callsOf = (node: SimNode): number =>
    [...node.endpoints[0]!.calls.values()].reduce((sum, count) => sum + count, 0)

  function expectWithin(factor: number, estimate: number, real: number): void {
    expect(estimate / real).toBeGreaterThan(1 / factor)
    expect(estimate / real).toBeLessThan(factor)
  }

  test('what it says of a full chain is within a factor of two of what a run then costs', {
    timeout: 120_000,
  }, async () => {
    const node = await simulate({ chain: { ...fullBlocks, height: 2_063, hashes: 'cheap', denseEvery: 7 } })
    const planned = JSON.parse((await place.run(['plan', '--json', '--samples', '6'])).stdout)
    const part = planned.chains.sim.parts[0]
    expect(part).toMatchObject({ from: 0, to: 1_999, blocks: 2_000, limited_by: 'endpoints' })
    expect(part.blocks_sampled).toBeLessThan(600)
    expect(existsSync(place.storeFile)).toBe(false)
    expectWithin(1.1, planned.sampling.calls, callsOf(node))
    const before = callsOf(node)
    const run = JSON.parse(
      (await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '1999', '--json'])).stdout,
    )
    expectWithin(2, part.calls, callsOf(node) - before)
    expectWithin(2, part.bytes, run.bytes)
    expectWithin(2, part.transfers, run.transfers)
    expectWithin(2, part.disk_bytes, statSync(place.storeFile).size)
    const database = new DatabaseSync(place.storeFile, { readOnly: true })
    const { addresses } = database.prepare('SELECT count(*) AS addresses FROM activity').get() as { addresses: number }
    database.close()
    expectWithin(2, part.addresses, addresses)
  })

  test('what it says of a contract is within a factor of two as well', async () => {
    const node = await simulate({ chain: { ...fullBlocks, height: 3_063, hashes: 'cheap' } })
    const contract = busiest(node)
    place.configure({ sim: { id: chainId, rpc: node.url, contracts: [contract], requests_per_second: 1_000_000 } })
    const planned = JSON.parse((await place.run(['plan', '--json', '--chain', 'sim'])).stdout)
    const part = planned.chains.sim.parts[0]
    expect(part.contract).toBe(contract)
    const before = callsOf(node)
    const run = JSON.parse(
      (await place.run(['sync', '--chain', 'sim', '--from', '0', '--to', '2999', '--json'])).stdout,
    )
    expectWithin(2, part.calls, callsOf(node) - before)
    expectWithin(2, part.bytes, run.bytes)
    expectWithin(1.01, part.transfers, run.transfers)
  })

  test('prints a table with a total, what sampling took and what is assumed; a limit sets the time', async () => {
    const node = await simulate()
    place.configure({ sim: { id: chainId, rpc: node.url, index: 'full', daily_budget: 100_000 } })
    const { code, stdout } = await place.run(['plan'])
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^CHAIN +WHAT +BLOCKS +SAMPLED +CALLS +BYTES +TIME +TRANSFERS +ADDRESSES +DISK\nsim +everything +301 +301 /,
    )
    expect(stdout).toMatch(/\ntotal +[\d,]+ +[\d.]+ [kM]B /)
    expect(stdout).toContain('sim: the time is set by chains.sim.daily_budget.')
    expect(stdout).toMatch(/Sampling took [\d,]+ calls, [\d.]+ [kM]B and \d+s\.\nAssumed: disk: /)
  })
})

describe('mistakes', () => {
  test.each([
    [
      ['sync', '--chain', 'smi', '--from', '0', '--to', '9'],
      'The chain "smi" is not configured.',
      'did you mean sim? configured chains: sim.',
    ],
    [['verify', '--chain', 'eth'], 'The chain "eth" is not configured.', 'configured chains: sim.'],
    [['sync', '--chain', 'sim', '--from', '9', '--to', '8'], '--from 9 is above --to 8.', 'pass the lower block'],
    [['sync', '--chain', 'sim', '--from', 'x', '--to', '8'], '--from is "x".', 'pass a whole number, at least 0.'],
    [
      ['sync', '--chain', 'sim', '--from', '0', '--to', '301'],
      'Block 301 of sim is not final: the final block is 300',
      'give --to 300 or less',
    ],
    [
      ['sync', '--chain', 'sim', '--from', '0', '--to', '9', '--contract', '0x12'],
      '--contract does not fit sim',
      'leave --contract out',
    ],
    [['verify', '--chain', 'sim'], 'sim has no indexed blocks to compare.', 'index something first'],
    [['plan', '--chain', 'other'], 'The chain "other" is not configured.', 'configured chains: sim.'],
    [['plan', '--samples', 'many'], '--samples is "many".', 'pass a whole number, at least 1.'],
    [['verify', '--chain', 'sim', '--from', '4'], '--from needs --to.', 'pass both'],
    [['verify', '--chain', 'sim', '--samples', '0'], '--samples is "0".', 'pass a whole number, at least 1.'],
  ])('%j', async (parameters, message, hint) => {
    await simulate()
    await makeStore(place.storeUrl)
    const { code, stdout, stderr } = await place.run(parameters)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`Error: ${message}`)
    expect(stderr).toContain(`\nTry:   ${hint}`)
  })

  test('contracts are needed on an on-demand chain, and must be addresses', async () => {
    await simulate({}, { index: 'on-demand' })
    const sync = ['sync', '--chain', 'sim', '--from', '0', '--to', '9']
    expect(await place.run(sync)).toMatchObject({ code: 1, stderr: expect.stringContaining('pass --contract') })
    expect(await place.run([...sync, '--contract', '0x12'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not an address'),
    })
  })

  test.each(['sync', 'verify'])('%s with an endpoint that is down ends with 75', async command => {
    const node = await simulate()
    await node.close()
    await makeStore(place.storeUrl)
    const { code, stdout, stderr } = await place.run([command, '--chain', 'sim', '--from', '0', '--to', '9'])
    expect({ code, stdout }).toEqual({ code: 75, stdout: '' })
    expect(stderr).toMatch(
      /^Error: sim endpoint 127\.0\.0\.1:\d+ failed .*ECONNREFUSED.*\nTry: {3}check that the node runs/,
    )
  })
})

describe('start and status', () => {
  /** The service under a terminal that `script` makes, where there is such a command. */
  const terminal = spawnSync('script', ['--version']).status === 0

  test('status shows how far each chain is, and why one is stalled', async () => {
    const node = await simulate()
    const down = await startSimNode({ chain: { chainId: 31_338 } })
    const sim = { id: chainId, rpc: node.url, index: 'full' }
    place.configure({ sim, gone: { id: 31_338, rpc: down.url, index: 'full' } })
    await down.close()
    const service = place.begin(['start', '--listen', '127.0.0.1:0', '--ops-open'], { ALMANAC_KEY: 'the-operator-key' })
    const url = await service.listening()
    await service.until(async () => {
      const { sim: live, gone } = await chainsOf(service)
      return live?.state === 'live' && live.complete && gone?.state === 'stalled'
    }, 'a live and a stalled chain')
    const { stdout: shown } = await place.run(['status', '--url', url])
    expect(shown).toMatch(/CHAIN +STATE +HEAD +AGE +BEHIND +COVERED +RATE +LEFT +ENDPOINTS/)
    // Simulated blocks are years old, as those of a node that stopped.
    expect(shown).toMatch(/sim +live +364 +\d{4}d \d+h +0s +\[={12}\] 100% .*1 of 1 healthy/)
    expect(shown).toMatch(/gone +stalled +- .*0 of 1 healthy/)
    expect(shown).toMatch(/gone is stalled: gone endpoint 127\.0\.0\.1:\d+ failed/)
    expect(service.stderr).not.toContain('\u001b[')
  })

  test.skipIf(!terminal)('start draws a line for each chain on a terminal, below the lines of the log', async () => {
    await simulate({
      chain: { height: 1_063, hashes: 'cheap', genesisTime: Math.floor(Date.now() / 1_000) - 1_064 * 12 },
      endpoints: [{ faults: [{ kind: 'latency', delayMs: 300 }] }],
    })
    const service = place.beginOnTerminal(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: 'the-operator-key' })
    await service.listening()
    await service.until(() => /sim {2}\[=*>? *\] +[\d.]+% {2}[\d,]+ of 1,064 blocks/.test(service.stdout), 'a bar')
    await service.until(
      () => /sim {2}\[={24}\] +100% {2}\S*live\S* {2}head 1,063 {2}0 s behind/.test(service.stdout),
      'the end of the history',
    )
    // Each drawing erases the one before.
    expect(service.stdout).toContain('\u001b[1A\r\u001b[J')
  })
})
