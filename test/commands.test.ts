// The commands that work on chains, as real processes against a simulated node: plan, sync, chain and status.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { activityGaps } from '../src/store/activity-gaps.ts'
import { openStore, openStoreParts } from '../src/store/open.ts'
import {
  busiest,
  chainId,
  chainsOf,
  cleanups,
  configureFor,
  expectTruth,
  fullBlocks,
  place,
  placeEachTest,
  simulate,
} from './chain-commands.ts'
import { makeStore } from './command-run.ts'
import { truthByContract } from './evm-harness.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'
import { expectedActivity, expectedTransfers } from './sim/truth.ts'
import { TerminalModel } from './terminal-model.ts'
import { thorough } from './thorough.ts'

placeEachTest()

test('sync and verify count what they ask for under the daily budget of the service', async () => {
  await simulate({ chain: { height: 80 } }, { index: 'full', daily_budget: 10_000 })
  const spent = async () => {
    const store = await openStore(place.storeUrl, { role: 'tool' })
    const text = await store.checkpoint('budget/chains.sim.daily_budget')
    await store.close()
    return (JSON.parse(text ?? '{"spent":0}') as { spent: number }).spent
  }
  await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '15'])
  const bySync = await spent()
  expect(bySync).toBeGreaterThan(15)
  await place.runHere(['verify', '--chain', 'sim', '--from', '0', '--to', '15'])
  expect(await spent()).toBeGreaterThan(bySync + 15)
})

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
    const again = await place.runHere(parameters)
    expect(again).toMatchObject({ code: 0 })
    expect(again.stdout).toContain('0 blocks read, 200 already stored')
  })

  test('stores the configured contracts of an on-demand chain, or those of --contract', async () => {
    const node = await simulate()
    const contract = busiest(node)
    place.configure({ sim: { id: chainId, rpc: node.url, contracts: [contract] } })
    expect(await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '300'])).toMatchObject({ code: 0 })
    await expectTruth(node, { from: 0, to: 300 }, contract)
    const other = [...truthByContract(node.chain, { from: 0, to: 300 }).keys()].find(one => one !== contract)!
    const run = await place.runHere([
      'sync',
      '--chain',
      'sim',
      '--from',
      '0',
      '--to',
      '300',
      '--contract',
      other,
      '--json',
    ])
    expect(JSON.parse(run.stdout)).toMatchObject({ contracts: [other], blocks_read: 301 })
  })

  thorough('continues after kill -9', async () => {
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
    const rest = await place.runHere([...parameters, '--json'])
    expect(rest.code).toBe(0)
    const { blocks_present, blocks_read } = JSON.parse(rest.stdout)
    expect(blocks_present).toBeGreaterThan(0)
    expect(blocks_read).toBeGreaterThan(0)
    expect(blocks_present + blocks_read).toBe(601)
    await expectTruth(node, { from: 0, to: 600 })
    expect(await place.runHere(['verify', '--chain', 'sim', '--from', '0', '--to', '600'])).toMatchObject({ code: 0 })
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
    const rest = JSON.parse((await place.runHere([...parameters, '--json'])).stdout)
    expect(rest.blocks_present).toBe(Number(/with (\d+) of/.exec(stderr)?.[1]))
    expect(rest.blocks_present).toBeGreaterThan(0)
    await expectTruth(node, { from: 0, to: 600 })
  })

  test('is refused beside a service that indexes into the same file', async () => {
    await simulate()
    const service = place.begin(['start', '--listen', '127.0.0.1:0'])
    await service.listening()
    const { code, stdout, stderr } = await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '9'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^Error: Another process is already indexing into the store .*\nTry: {3}stop it first/)
  })

  thorough(
    'blocks that were hot when the service stopped and are gone from the chain do not become final',
    async () => {
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
      expect(await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '330'])).toMatchObject({ code: 0 })
      await expectTruth(node, { from: 0, to: 330 })
    },
  )
})

describe('chain unfinalize', () => {
  test('asks first, takes back what is above, and the service then follows the chain as it is', async () => {
    const node = await simulate()
    expect(await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '300'])).toMatchObject({ code: 0 })
    const parameters = ['chain', 'unfinalize', 'sim', '--to', '120']
    const asked = await place.run(parameters)
    expect(asked).toMatchObject({ code: 1, stdout: '' })
    expect(asked.stderr).toContain('Nothing was changed.')
    await expectTruth(node, { from: 0, to: 300 })
    const taken = await place.runHere([...parameters, '--yes', '--json'])
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
    const above = await place.runHere(['chain', 'unfinalize', 'sim', '--to', '120', '--yes'])
    expect(above.stderr).toContain('sim cannot be taken back to block 120: its highest final block is 120.')
    node.chain.finalize(100)
    node.reorg({ depth: 200, length: 210 })
    node.chain.finalize(undefined)
    const service = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_OPS_OPEN: 'true' })
    await service.until(async () => (await chainsOf(service)).sim?.complete === true, 'the chain is complete')
    expect(await place.runHere([...parameters, '--yes'])).toMatchObject({ code: 1, stdout: '' })
    await expectTruth(node, { from: 0, to: node.chain.head })
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
    const node = await simulate({ chain: { ...fullBlocks, height: 663, hashes: 'cheap', denseEvery: 7 } })
    const planned = JSON.parse((await place.run(['plan', '--json', '--samples', '6'])).stdout)
    const part = planned.chains.sim.parts[0]
    expect(part).toMatchObject({ from: 0, to: 599, blocks: 600 })
    expect(['endpoints', 'machine']).toContain(part.limited_by)
    expect(part.blocks_sampled).toBeLessThan(400)
    expect(existsSync(place.storeFile)).toBe(false)
    expectWithin(1.1, planned.sampling.calls, callsOf(node))
    const before = callsOf(node)
    const run = JSON.parse(
      (await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '599', '--json'])).stdout,
    )
    expectWithin(2, part.calls, callsOf(node) - before)
    expectWithin(2, part.bytes, run.bytes)
    expectWithin(2, part.transfers, run.transfers)
    expectWithin(2, part.disk_bytes, statSync(place.storeFile).size)
    const store = await openStoreParts(`file:${place.storeFile}`)
    const { rows: wallets } = await store.readPart('activity', undefined, 1_000_000)
    await store.close()
    expectWithin(2, part.addresses, wallets.length)
  })

  thorough(
    'asks at most a few hundred calls, of which it says how many, be blocks small or a contract busy',
    async () => {
      // A range of a megabyte would be hundreds of these blocks.
      const node = await simulate({ chain: { ...lightBlocks, height: 1_063 } })
      const whole = JSON.parse((await place.runHere(['plan', '--json'])).stdout)
      expectWithin(1.02, whole.sampling.calls, callsOf(node))
      expect(whole.sampling.calls).toBeLessThan(600)
      const blocks = { from: 0, to: 999 }
      expectWithin(1.1, whole.chains.sim.parts[0].calls, 2 * 1_000)
      expectWithin(2, whole.chains.sim.parts[0].transfers, expectedTransfers(node.chain, blocks).length)
      // A chain that keeps every token is read twice, and sampled for no more.
      configureFor(node, { index: 'full', views: ['transfers', 'erc20'] })
      const both = JSON.parse((await place.runHere(['plan', '--json'])).stdout)
      expect(both.chains.sim.parts.map(({ calls }: { calls: number }) => calls)).toHaveLength(2)
      expect(both.sampling.calls).toBeLessThan(600)
      expectWithin(1.1, both.chains.sim.parts[1].calls, 2 * 1_000)
      const contract = busiest(node)
      configureFor(node, { contracts: [contract] })
      const before = callsOf(node)
      const planned = JSON.parse((await place.runHere(['plan', '--json'])).stdout)
      expectWithin(1.02, planned.sampling.calls, callsOf(node) - before)
      expect(planned.sampling.calls).toBeLessThan(600)
      const own = expectedTransfers(node.chain, blocks).filter(row => row.contract === contract)
      expectWithin(2, planned.chains.sim.parts[0].transfers, own.length)
    },
  )

  thorough('what it says of a contract is within a factor of two as well', async () => {
    const node = await simulate({ chain: { ...fullBlocks, height: 1_563, hashes: 'cheap' } })
    const contract = busiest(node)
    place.configure({ sim: { id: chainId, rpc: node.url, contracts: [contract], requests_per_second: 1_000_000 } })
    const planned = JSON.parse((await place.runHere(['plan', '--json', '--chain', 'sim'])).stdout)
    const part = planned.chains.sim.parts[0]
    expect(part.contract).toBe(contract)
    const before = callsOf(node)
    const run = JSON.parse(
      (await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '1499', '--json'])).stdout,
    )
    // More than that of calls: small samples ask for transactions one by one that a run takes with their blocks.
    expectWithin(2.5, part.calls, callsOf(node) - before)
    expectWithin(2, part.bytes, run.bytes)
    expectWithin(2, part.transfers, run.transfers)
  })

  test('says of a listed wallet that it is not a contract, as the log of a start does, once', async () => {
    const node = await simulate()
    const wallet = `0x${'1'.repeat(40)}`
    const contract = node.chain.contracts.all[0]!.address
    place.configure({ sim: { id: chainId, rpc: node.url, contracts: [wallet, contract] } })
    const { stdout } = await place.runHere(['plan'])
    expect(stdout).toMatch(new RegExp(`^sim +${wallet}, not a contract +\\d`, 'm'))
    expect(stdout).toMatch(new RegExp(`^sim +${contract} +\\d`, 'm'))
    expect(stdout).toContain(`\nsim has no code at ${wallet}: not a contract. Take it out of chains.sim.contracts.\n`)
    const run = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: 'the-operator-key' })
    const told = () =>
      [...run.stderr.matchAll(/^.*Listed addresses have no code: not contracts.*$/gm)].map(([line]) => line)
    await run.until(() => told().length > 0, 'the warning')
    await new Promise(resolve => setTimeout(resolve, 2_000))
    expect(told()).toEqual([expect.stringContaining(wallet)])
    expect(told()[0]).not.toContain(contract)
    await run.kill()
  })

  test('says the answer, then a table, what sampling took and what is assumed; a limit sets the time', async () => {
    const node = await simulate()
    place.configure({ sim: { id: chainId, rpc: node.url, index: 'full', daily_budget: 100_000 } })
    const { code, stdout } = await place.runHere(['plan'])
    expect(code).toBe(0)
    // The answer, then what it is made of; one part is its own total.
    expect(stdout).toMatch(
      /^Estimate: indexing sim takes about \d.*, [\d.]+ [kM]B of disk and [\d,]+ calls\.\n\nCHAIN +WHAT +BLOCKS +CALLS +BYTES +TIME +TRANSFERS +DISK\nsim +everything +301 +[\d,]+ +[\d.]+ [kM]B /,
    )
    expect(stdout).not.toMatch(/^total/m)
    const priced = (await place.runHere(['plan', '--price', '40'])).stdout
    expect(priced).toMatch(/^Estimate: .* and [\d,]+ calls \(about \d+\.\d\d at 40 per million\)\.\n/)
    expect(priced).not.toContain('Cost at')
    expect(stdout).toContain('sim: the time is set by chains.sim.daily_budget.')
    // One line of it for people, and every figure for programs.
    expect(stdout).toMatch(/Sampling took \d+ calls, [\d.]+ [kM]B and \d+ s\.\nAssumed: the endpoints stay as fast /)
    expect(stdout.match(/Assumed:/g)).toHaveLength(1)
    const assumed = async () => JSON.parse((await place.runHere(['plan', '--json'])).stdout).assumptions.join('\n')
    expect(await assumed()).toMatch(/^disk: 100 bytes .*\nmerging: rows are moved some at a time and need no disk/)
    // One block a second, in two of 24 hours.
    const backfill = { blocks_per_second: 1, hours: '22:00-00:00' }
    place.configure({ sim: { id: chainId, rpc: node.url, index: 'full', backfill } })
    const slow = JSON.parse((await place.runHere(['plan', '--json'])).stdout).chains.sim.parts[0]
    expect(slow).toMatchObject({ limited_by: 'backfill.hours', seconds: 301 * 12 })
    // A row takes more room on a server; no store is opened.
    const full = { sim: { id: chainId, rpc: node.url, index: 'full' } }
    place.configure(full, 'postgres://nowhere.invalid/almanac', { store_bytes_max: 1_048_576 })
    node.mine(400)
    const onServer = (await place.runHere(['plan'])).stdout
    expect(await assumed()).toMatch(/^disk: 136 bytes a transfer/)
    expect(await assumed()).not.toContain('merging')
    expect(onServer).toContain('\nlimits.store_bytes_max allows 1.0 MB: indexing would pause as store_full.\n')
  })

  test('plans every chain but one that fails, says why, and ends with its exit code', async () => {
    const node = await simulate()
    const sim = { id: chainId, rpc: node.url, index: 'full' }
    const gone = { id: 31_338, rpc: 'http://127.0.0.1:1', index: 'full' }
    place.configure({ gone, sim, idle: { id: chainId + 2, rpc: node.url } })
    const { code, stdout, stderr } = await place.runHere(['plan'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^Estimate: indexing sim takes about .* calls\. Not estimated: gone, idle\.\n/)
    expect(stdout).toMatch(/^gone +failed +- +- +- +- +- +-$/m)
    expect(stdout).toMatch(/^sim +everything +301 /m)
    expect(stderr).toMatch(/\nError: gone endpoint 127\.0\.0\.1:1 did not answer .*\nTry: {3}check that the node runs/)
    // Its endpoint serves another chain, which does not pass by itself.
    expect(stderr).toMatch(/\nError: .*idle.* 31339/)
    place.configure({ gone, sim })
    const json = await place.runHere(['plan', '--json'])
    expect(json.code).toBe(75)
    const { chains, total } = JSON.parse(json.stdout)
    expect(chains.gone).toEqual({
      error: {
        code: 'upstream_failed',
        message: expect.stringContaining('gone endpoint 127.0.0.1:1 did not answer'),
        cause: expect.any(String),
        hint: expect.stringContaining('check that the node runs'),
        retryable: true,
      },
    })
    expect([chains.sim.calls, chains.sim.parts]).toEqual([total.calls, [expect.anything()]])
    // A chain that is indexed as requested has a row beside one that is not.
    place.configure({ sim, idle: { id: 31_338, rpc: (await startIdle()).url } })
    const mixed = await place.runHere(['plan'])
    expect([mixed.code, mixed.stdout]).toEqual([0, expect.stringMatching(/^idle +nothing yet +- /m)])
    expect(mixed.stdout).toMatch(/^Estimate: indexing sim takes about /)
    expect(mixed.stdout).toContain('\nidle: no contract is configured: nothing is indexed until one is requested.\n')
  })

  async function startIdle(): Promise<SimNode> {
    const node = await startSimNode({ chain: { chainId: 31_338, height: 100, hashes: 'cheap' } })
    cleanups.push(() => node.close())
    return node
  }

  test('models whole chains without a node', async () => {
    const { stdout } = await place.runHere(['plan', '--model'])
    expect(stdout).toMatch(
      /^CHAIN +STORE +CALLS +BYTES +TIME +DISK +TRANSFERS ALONE\nEthereum +one machine, file +46,000,000 /,
    )
    expect(stdout).toContain('\nAssumed: full mode, ')
    const narrow = await place.beginOnTerminal(['plan', '--model'], { NO_COLOR: '1' }, 60).ended()
    for (const line of narrow.stdout.split('\r\n')) expect(line.length, line).toBeLessThanOrEqual(60)
    expect(narrow.stdout).toMatch(/^Ethereum +one machine.* h +[\d.]+ [GT]B/m)
    const { model } = JSON.parse((await place.runHere(['plan', '--model', '--json'])).stdout)
    expect(model).toHaveLength(9)
    for (const { bytes, seconds, disk_bytes, transfers_disk_bytes } of model) {
      expect(bytes / seconds).toBeGreaterThan(1e6)
      expect(disk_bytes).toBeGreaterThan(transfers_disk_bytes)
    }
  })

  test('says what the activity of wallets costs, and leaves it out where it is not kept', async () => {
    const node = await simulate()
    const all = JSON.parse((await place.runHere(['plan', '--json'])).stdout).chains.sim.parts[0]
    expect(all).toMatchObject({ views: ['transfers', 'activity', 'by_wallet', 'by_token', 'by_block'] })
    expect((await place.runHere(['plan'])).stdout).toMatch(
      /\nsim: the activity of wallets takes [\d.]+ [kM]B of the disk; chains\.sim\.views: \[transfers\] leaves it out\.\n/,
    )
    configureFor(node, { index: 'full', views: ['transfers'] })
    const { transfers } = all
    const some = JSON.parse((await place.runHere(['plan', '--json'])).stdout).chains.sim.parts[0]
    expect(some).toMatchObject({ views: ['transfers'], addresses: 0 })
    expectWithin(2, some.transfers, transfers)
    expect(some.disk_bytes).toBeLessThan(all.disk_bytes)
    expect((await place.runHere(['plan'])).stdout).toContain(
      '\nsim: the activity of wallets is left out by chains.sim.views, and no address is counted.\n',
    )
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
    // The only chain.
    [['verify'], 'sim has no indexed blocks to compare.', 'index something first'],
    [
      ['explain', 'smi', `0x${'1'.repeat(40)}`],
      'The chain "smi" is not configured.',
      'did you mean sim? configured chains: sim.',
    ],
    [
      ['explain'],
      'explain needs <chain> and <contract>: no chain is given. Configured chains: sim.',
      'for example: almanac explain sim 0x…',
    ],
    [
      ['collections', 'unpin', 'sim'],
      'collections unpin needs <chain> and <contract>: no contract is given. Configured chains: sim.',
      'for example: almanac collections unpin sim 0x…',
    ],
    [['forget'], 'forget needs <chain>. Configured chains: sim.', 'for example: almanac forget sim\n'],
    [
      ['chain', 'unfinalize'],
      'chain unfinalize needs <chain> and --to <block>: no --to is given. Configured chains: sim.',
      'for example: almanac chain unfinalize sim --to BLOCK\n',
    ],
    [
      ['chain', 'unfinalize', '--to', '7'],
      'chain unfinalize needs <chain> and --to <block>: no chain is given. Configured chains: sim.',
      'for example: almanac chain unfinalize sim --to BLOCK\n',
    ],
    [
      ['sync'],
      'sync needs --chain <name>, --from <block> and --to <block>: no --chain is given. Configured chains: sim.',
      'for example: almanac sync --chain sim --from BLOCK --to BLOCK\n',
    ],
    [['keys', 'revoke'], 'keys revoke needs <id-or-name>.', 'for example: almanac keys revoke ID-OR-NAME\n'],
    [['plan', '--chain', 'other'], 'The chain "other" is not configured.', 'configured chains: sim.'],
    [['plan', '--samples', 'many'], '--samples is "many".', 'pass a whole number, at least 1.'],
    [['verify', '--chain', 'sim', '--from', '4'], '--from needs --to.', 'pass both'],
    [['verify', '--chain', 'sim', '--samples', '0'], '--samples is "0".', 'pass a whole number, at least 1.'],
  ])('%j', async (parameters, message, hint) => {
    await simulate()
    await makeStore(place.storeUrl)
    const { code, stdout, stderr } = await place.runHere(parameters)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`Error: ${message}`)
    expect(stderr).toContain(`\nTry:   ${hint}`)
  })

  test('verify without --chain names the chains to choose from', async () => {
    const rpc = 'http://127.0.0.1:1'
    place.configure({ sim: { id: 31_337, rpc }, other: { id: 31_338, rpc } })
    const { code, stderr } = await place.runHere(['verify'])
    expect([code, stderr]).toEqual([
      1,
      'Error: --chain is needed, as several chains are configured.\nTry:   configured chains: sim, other.\n',
    ])
  })

  test('contracts are needed on an on-demand chain, and must be addresses', async () => {
    await simulate({}, { index: 'on-demand' })
    const sync = ['sync', '--chain', 'sim', '--from', '0', '--to', '9']
    expect(await place.runHere(sync)).toMatchObject({ code: 1, stderr: expect.stringContaining('pass --contract') })
    expect(await place.runHere([...sync, '--contract', '0x12'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not an address'),
    })
  })

  test.each(['sync', 'verify'])('%s with an endpoint that is down ends with 75', async command => {
    const node = await simulate()
    await node.close()
    await makeStore(place.storeUrl)
    const { code, stdout, stderr } = await place.runHere([command, '--chain', 'sim', '--from', '0', '--to', '9'])
    expect({ code, stdout }).toEqual({ code: 75, stdout: '' })
    expect(stderr).toMatch(
      /^Error: sim endpoint 127\.0\.0\.1:\d+ did not answer .*ECONNREFUSED.*\nTry: {3}check that the node runs/,
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
    expect(shown).toMatch(/CHAIN +STATE +HEAD +AGE +LAG +COVERED +RATE +ETA +ENDPOINTS/)
    // Simulated blocks are years old, as those of a node that stopped.
    expect(shown).toMatch(/sim +live +364 +\d+ y( \d+ d)? +\d+ s +\[={12}\] 100% .*1 of 1 healthy/)
    expect(shown).toMatch(/gone +stalled +- +- +- .*0 of 1 healthy/)
    expect(shown).toMatch(
      /gone is stalled: gone endpoint 127\.0\.0\.1:\d+ did not answer .*\. Try: check that the node/,
    )
    expect(shown.match(/gone endpoint/g)).toHaveLength(1)
    expect(service.stderr).not.toContain('\u001b[')
    // The same bar as that of the service on a terminal.
    const { stdout: lines } = await place.begin(['status', '--url', url], { LANG: 'C.UTF-8' }).ended()
    expect(lines).toMatch(/sim +live .* ━{12} 100% /)
    // A narrow terminal breaks remarks between words.
    const narrow = await place.beginOnTerminal(['status', '--url', url], { NO_COLOR: '1' }, 60).ended()
    const remarks = narrow.stdout.split('\r\n').slice(2)
    expect(remarks).toContainEqual(expect.stringMatching(/^gone is /))
    for (const line of remarks) expect(line.length, line).toBeLessThanOrEqual(60)
  })

  test.skipIf(!terminal)('start draws a line for each chain on a terminal, below the lines of the log', async () => {
    await simulate({
      chain: { height: 463, hashes: 'cheap', genesisTime: Math.floor(Date.now() / 1_000) - 464 * 12 },
      endpoints: [{ faults: [{ kind: 'latency', delayMs: 300 }] }],
    })
    const service = place.beginOnTerminal(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: 'the-operator-key' })
    await service.listening()
    await service.until(
      () => /sim +\[=*>? *\] .* backfilling {2}head 463 .* of 464 blocks/.test(service.stdout),
      'a bar',
    )
    await service.until(
      () => /sim +\[={24}\] +100% {2}\S*live\S* {2}head 463 {2}lag 0 s/.test(service.stdout),
      'the end of the history',
    )
    // At another width each row is there once, whatever the terminal made of the old ones.
    const terminal = new TerminalModel(120, { reflows: true })
    let read = 0
    const readOn = (): void => {
      terminal.write(service.stdout.slice(read))
      read = service.stdout.length
    }
    const device = terminalOf(service.child.pid!)
    for (const columns of [50, 120]) {
      readOn()
      terminal.resize(columns)
      spawnSync('stty', ['-F', device, 'cols', `${columns}`])
      const before = read
      await service.until(() => service.stdout.slice(before).split('this run').length > 3, 'some drawings')
    }
    readOn()
    for (const name of ['sim ', 'this run ', 'Press '])
      expect(
        terminal.shown.filter(row => row.startsWith(name)),
        name,
      ).toHaveLength(1)
    expect(terminal.isCursorShown).toBe(false)
    // A key ends it as Ctrl-C does, with a word, and the terminal is as it was.
    service.child.stdin.write('q')
    expect((await service.ended()).code).toBe(0)
    readOn()
    expect(terminal.shown.join('\n')).toMatch(/Stopping… Running requests finish.*\nDone\.\n$/s)
    expect(terminal.isCursorShown).toBe(true)
  })
})

/** Of the process that `script` runs. */
function terminalOf(script: number): string {
  const [child] = readFileSync(`/proc/${script}/task/${script}/children`, 'utf8').split(' ')
  return readlinkSync(`/proc/${child}/fd/2`)
}
