// The command verify, as a real process against a simulated node: what it finds, says and repairs.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import type { Address } from '../src/model.ts'
import { activityGaps } from '../src/store/activity-gaps.ts'
import { openStore } from '../src/store/open.ts'
import { readRows } from './altered-rows.ts'
import {
  alter,
  busiest,
  chainId,
  chainsOf,
  cleanups,
  configureFor,
  expectTruth,
  place,
  placeEachTest,
  type Simulated,
  simulate,
} from './chain-commands.ts'
import { forgedResults } from './sim/hostile.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'
import { startOtherHistory } from './sim/other-history.ts'

placeEachTest()

describe('verify', () => {
  /** Of which 64 are not final. */
  const height = 214
  const last = height - 64 - 1
  const whole = ['verify', '--chain', 'sim', '--from', '0', '--to', `${last}`]
  const sync = ['sync', '--chain', 'sim', '--from', '0', '--to', `${last}`]
  let shared: { node: SimNode; store: Buffer } | undefined
  afterAll(() => shared?.node.close())

  /** A full chain and a store that has it: most tests begin with the same one, which is indexed once. */
  async function synced(): Promise<SimNode> {
    if (shared === undefined) {
      const node = await startSimNode({ chain: { chainId, height, hashes: 'real', ...lightBlocks } })
      configureFor(node, { index: 'full' })
      expect(await place.run(sync)).toMatchObject({ code: 0 })
      // The last process to leave it has left a single file.
      expect(existsSync(`${place.storeFile}-wal`)).toBe(false)
      shared = { node, store: readFileSync(place.storeFile) }
    } else {
      configureFor(shared.node, { index: 'full' })
      writeFileSync(place.storeFile, shared.store)
    }
    return shared.node
  }

  async function syncedOwn(options: Simulated, settings?: object): Promise<SimNode> {
    const node = await simulate({ ...options, chain: { height, ...options.chain } }, settings)
    expect(await place.runHere(sync)).toMatchObject({ code: 0 })
    return node
  }

  async function differences(parameters = whole) {
    const { code, stdout } = await place.runHere([...parameters, '--json'])
    const report = JSON.parse(stdout)
    expect(code).toBe(report.same ? 0 : 1)
    return report as { differences: Record<string, unknown>[]; differences_by_kind: object; blocks: number }
  }

  test('an untouched store is the same, given and random ranges alike', async () => {
    const node = await synced()
    const given = await place.run(whole)
    expect(given).toMatchObject({ code: 0 })
    expect(given.stdout).toContain('sim is the same in the store as on the chain: 150 blocks in 1 range')
    const random = await differences(['verify', '--chain', 'sim', '--samples', '3', '--blocks', '20'])
    expect(random).toMatchObject({ same: true, differences_total: 0 })
    expect(random.blocks).toBeGreaterThan(3)
    expect(random.blocks).toBeLessThanOrEqual(60)
    expect(node.endpoints[0]!.requests).toBeGreaterThan(0)
  })

  test('without activity it compares transfers alone, repairs them, and looks for no wallet', async () => {
    const settings = { index: 'full', views: ['transfers'] }
    const node = await syncedOwn({}, settings)
    const address = `x'${'ab'.repeat(20)}'`
    // As a look-up of a wallet would leave it.
    await alter(`INSERT INTO activity SELECT ${address}, ordinal, x'${'01'.repeat(43)}', NULL FROM chains`)
    expect(await differences()).toMatchObject({ same: true, blocks: 150 })
    await alter(
      'DELETE FROM transfers WHERE (contract, block, tx, log, pos) = (SELECT contract, block, tx, log, pos FROM transfers LIMIT 1)',
    )
    expect(await differences()).toMatchObject({ differences_by_kind: { missing: 1 } })
    expect((await place.runHere([...whole, '--repair'])).code).toBe(0)
    await expectTruth(node, { from: 0, to: last })
    // Named later, it is read once more for wallets, and is then the same for them too.
    configureFor(node, { index: 'full' })
    await alter(`DELETE FROM activity WHERE address = ${address}`)
    expect(await differences()).toMatchObject({ same: true })
    const { stdout } = await place.runHere([...sync, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ blocks_present: 0, blocks_read: 150, transfers: 0 })
    expect(await differences()).toMatchObject({ same: true, blocks: 150 })
    await alter('DELETE FROM activity WHERE address = (SELECT min(address) FROM activity)')
    expect(await differences()).toMatchObject({ differences_by_kind: { activity: 1 } })
  })

  test('finds a removed, an altered and an added row, and says which', async () => {
    await synced()
    const [removed, altered] = (await readRows(
      place.storeFile,
      'SELECT contract, block, tx, log, pos, hex(address) AS address FROM transfers JOIN contracts ON id = contract WHERE block > 50 AND length(payload) > 80 GROUP BY contract HAVING count(*) > 3 LIMIT 2',
    )) as { contract: number; block: number; tx: number; log: number; pos: number; address: string }[]
    const at = ({ contract, block, tx, log, pos }: typeof removed & {}) =>
      `contract = ${contract} AND block = ${block} AND tx = ${tx} AND log = ${log} AND pos = ${pos}`
    await alter(
      `DELETE FROM transfers WHERE ${at(removed!)}`,
      // The last byte of the recipient.
      `UPDATE transfers SET payload = CAST(substr(payload, 1, 55) || x'ee' || substr(payload, 57) AS BLOB) WHERE ${at(altered!)}`,
      `INSERT INTO transfers SELECT contract, block, tx, 9999, pos, payload, timestamp, hash FROM transfers WHERE ${at(altered!)}`,
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
    const text = await place.runHere(whole)
    expect(text.code).toBe(1)
    expect(text.stdout).toMatch(
      /missing {4}block \d+ transaction \d+ log \d+( item \d+)? 0x\w{40}: the store lacks ERC/,
    )
    expect(text.stdout).toMatch(/altered {4}block/)
    expect(text.stdout).toContain('the chain does not have')
    expect(text.stdout).toMatch(/sim differs: \d \w+, \d \w+, \d \w+, in 150 blocks/)
  })

  test.each([{ index: 'full' }, { index: 'on-demand' }])('repairs what differs, and says so: %j', async ({ index }) => {
    const node = index === 'full' ? await synced() : await simulate({ chain: { height } }, { index })
    const contract = busiest(node)
    const only = index === 'full' ? [] : ['--contract', contract]
    if (index !== 'full') expect(await place.runHere([...sync, ...only])).toMatchObject({ code: 0 })
    const rows =
      index === 'full' ? '' : `contract = (SELECT id FROM contracts WHERE address = x'${contract.slice(2)}') AND`
    const one = `(SELECT contract, block, tx, log, pos FROM transfers WHERE ${rows} block > 50 LIMIT 1)`
    await alter(
      `DELETE FROM transfers WHERE (contract, block, tx, log, pos) = ${one}`,
      `INSERT INTO transfers SELECT contract, block, tx, 9999, pos, payload, timestamp, hash FROM transfers WHERE (contract, block, tx, log, pos) = ${one}`,
    )
    const before = await differences([...whole, ...only])
    expect(before.differences_by_kind).toEqual({ missing: 1, unexpected: 1 })
    const text = await place.runHere([...whole, ...only, '--repair'])
    expect(text).toMatchObject({ code: 0 })
    expect(text.stdout).toContain('sim differs: ')
    expect(text.stdout).toContain('Dropped and indexed again: 1 range.')
    expect(text.stdout).toContain('sim is the same in the store as on the chain')
    expect(await differences([...whole, ...only])).toMatchObject({ same: true })
    expect(await differences([...whole, ...only, '--repair'])).not.toHaveProperty('repaired')
  })

  test('drops nothing while the store has no room for what would come instead', async () => {
    const node = await synced()
    const one = 'SELECT contract, block, tx, log, pos FROM transfers WHERE block > 50 LIMIT 1'
    await alter(
      `DELETE FROM transfers WHERE (contract, block, tx, log, pos) = (${one})`,
      "INSERT INTO secrets VALUES ('filler', zeroblob(1048576))",
    )
    configureFor(node, { index: 'full' }, { store_bytes_max: 1_048_576 })
    const before = await differences()
    const refused = await place.runHere([...whole, '--repair'])
    expect(refused).toMatchObject({ code: 75, stderr: expect.stringContaining('has reached limits.store_bytes_max') })
    expect(await differences()).toEqual(before)
  })

  test('finds rows of a contract that the node does not report at all', async () => {
    await synced()
    await alter(
      "INSERT INTO contracts (id, chain, address) SELECT 777777, chain, x'00000000000000000000000000000000000000aa' FROM contracts LIMIT 1",
      'INSERT INTO transfers SELECT 777777, block, tx, log, pos, payload, timestamp, hash FROM transfers WHERE block = 100 LIMIT 1',
    )
    const { differences: found } = await differences()
    expect(found).toEqual([
      expect.objectContaining({
        kind: 'unexpected',
        block: 100,
        contract: '0x00000000000000000000000000000000000000aa',
      }),
    ])
    // The rows of other blocks are still the same.
    await expect(differences(['verify', '--chain', 'sim', '--from', '0', '--to', '99'])).resolves.toMatchObject({
      same: true,
    })
  })

  test('finds a payload of another length, a block with another hash and wrong activity', async () => {
    await synced()
    await alter(
      "UPDATE transfers SET payload = x'01' WHERE (contract, block, tx, log, pos) = (SELECT contract, block, tx, log, pos FROM transfers WHERE block = 120 LIMIT 1)",
    )
    // As answers show it: the hash is stored with each transfer.
    await alter(
      'UPDATE transfers SET hash = zeroblob(32) WHERE (contract, block, tx, log, pos) = (SELECT contract, block, tx, log, pos FROM transfers WHERE block = 75 LIMIT 1)',
    )
    await alter(
      'UPDATE activity SET last = coalesce(last, first), first = unhex(substr(hex(first), 1, 22) || hex(zeroblob(32))) WHERE address = (SELECT max(address) FROM activity)',
    )
    await alter('DELETE FROM activity WHERE address = (SELECT min(address) FROM activity)')
    const { differences_by_kind: kinds } = await differences()
    expect(kinds).toEqual({ altered: 1, block: 1, activity: 2 })
  })

  test('a wallet that never was is found and taken back, and one with a wrong first transaction is marked', async () => {
    await synced()
    const never = `0x${'66'.repeat(20)}` as Address
    const findLate = "SELECT hex(address) AS address FROM activity WHERE first > x'00000064' LIMIT 1"
    const [late] = await readRows(place.storeFile, findLate)
    const wallet = `0x${String(late?.address).toLowerCase()}` as Address
    const early = "(SELECT first FROM activity WHERE first > x'0000001e' AND first < x'00000028' LIMIT 1)"
    await alter(
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
      expect(await place.runHere(['verify', '--chain', 'sim', ...range, '--repair'])).toMatchObject({ code: 0 })
      const store = await openStore(place.storeUrl, { role: 'tool' })
      expect(await store.activityOf(never)).toEqual(new Map())
      const gaps = [await activityGaps(store, never), await activityGaps(store, wallet)]
      await store.close()
      return gaps.map(each => [...each.keys()])
    }
    expect(await gapsAfter(20, 60)).toEqual([[chainId], [chainId]])
    // A range that holds all that is claimed derives everything again.
    await alter(`INSERT INTO activity SELECT x'${never.slice(2)}', chain, ${early}, NULL FROM activity LIMIT 1`)
    expect(await gapsAfter(0, last)).toEqual([[], [chainId]])
    expect(await differences()).toMatchObject({ same: true })
  })

  test('endpoints that disagree are told, and nothing is repaired', async () => {
    const node = await synced()
    const chain = { chainId, height, hashes: 'real', ...lightBlocks, seed: 99 } as const
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
    const text = await place.runHere([...whole, '--repair'])
    expect(text).toMatchObject({ code: 1 })
    expect(text.stdout).toContain('The endpoints disagree on 1 range: neither compared nor repaired.')
    await expectTruth(node, { from: 0, to: last })
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
    expect(await place.runHere(['sync', ...parameters])).toMatchObject({ code: 0 })
    place.configure({ sim: { id: chainId, rpc: [node.endpoints[0]!.url], ...settings, sender_sample: 1 } })
    const { code, stderr } = await place.runHere(['verify', ...parameters])
    expect(code).not.toBe(0)
    expect(stderr).toContain('signed it, reported is')
  })

  test('rows that wait for their claim are compared as well', async () => {
    await synced()
    await alter(
      "UPDATE coverage SET from_block = 100 WHERE scope = 'full'",
      'INSERT INTO pending_ranges SELECT chain, 0, 99, hash FROM blocks LIMIT 1',
      'INSERT INTO transfers SELECT contract, block, tx, 9999, pos, payload, timestamp, hash FROM transfers WHERE block = 50 LIMIT 1',
      'DELETE FROM transfers WHERE (contract, block, tx, log, pos) = (SELECT contract, block, tx, log, pos FROM transfers WHERE block = 60 LIMIT 1)',
    )
    const report = await differences()
    expect(report.differences_by_kind).toEqual({ unexpected: 1 })
    expect(report.differences).toEqual([expect.objectContaining({ kind: 'unexpected', block: 50 })])
    expect(await place.runHere([...whole, '--repair'])).toMatchObject({ code: 0 })
    expect(await differences()).toMatchObject({ same: true })
  })

  test('a claim of a stronger proof than the node gives is a difference', async () => {
    const faults = [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }] as const
    await syncedOwn({ endpoints: [{ faults }] })
    expect(await differences()).toMatchObject({ same: true })
    await alter("UPDATE coverage SET evidence = 'receipts-root' WHERE scope = 'full'")
    expect((await differences()).differences[0]).toMatchObject({
      kind: 'evidence',
      detail: expect.stringContaining('recorded as proven by receipts-root; the endpoints prove them by bloom'),
    })
  })

  test('works on an on-demand chain, with and without --contract', async () => {
    const node = await simulate({ chain: { height } })
    const contract = busiest(node)
    await syncedOwn({}, { contracts: [contract] })
    expect(await differences()).toMatchObject({ same: true, ranges: [{ contract }] })
    await alter(
      'DELETE FROM transfers WHERE (contract, block, tx, log, pos) = (SELECT contract, block, tx, log, pos FROM transfers LIMIT 1)',
    )
    for (const parameters of [whole, [...whole, '--contract', contract], ['verify', '--chain', 'sim']])
      expect((await differences(parameters)).differences_by_kind).toEqual({ missing: 1 })
  })

  test('works beside a running service', async () => {
    await simulate({ chain: { height } })
    const service = place.begin(['start', '--listen', '127.0.0.1:0', '--ops-open'], { ALMANAC_KEY: 'the-operator-key' })
    await service.listening()
    await service.until(async () => (await chainsOf(service)).sim?.complete === true, 'completeness')
    expect(await place.run(whole)).toMatchObject({ code: 0 })
    service.child.kill('SIGTERM')
    expect(await service.ended()).toMatchObject({ code: 0 })
  })
})
