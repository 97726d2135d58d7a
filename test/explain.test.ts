// Explanations, on the command line against a simulated node and over HTTP against the real schema.
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { explanation } from '../src/api/operator-schemas.ts'
import { AlmanacError } from '../src/errors.ts'
import type { Address, Hash } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { CommandPlace, makeStore } from './command-run.ts'
import { truthByContract } from './evm-harness.ts'
import { packTransfer } from './pack-transfer.ts'
import { seed, seeded, seededTransfers } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'
import { thorough } from './thorough.ts'

const chainId = 31_337

describe('on the command line', () => {
  let place: CommandPlace
  let node: SimNode
  beforeEach(async () => {
    place = new CommandPlace()
    node = await startSimNode({ chain: { chainId, height: 364, hashes: 'real', ...lightBlocks } })
    place.configure({ sim: { id: chainId, rpc: node.endpoints.map(({ url }) => url), index: 'full' } })
  })
  afterEach(async () => {
    await place.dispose()
    await node.close()
  })

  const explain = async (...parameters: string[]) => {
    const { code, stdout, stderr } = await place.runHere(['explain', ...parameters])
    expect([code, stderr]).toEqual([0, ''])
    return stdout
  }

  test('an address without code on the chain is said to be no contract', async () => {
    await makeStore(place.storeUrl)
    const wallet = `0x${'1'.repeat(40)}`
    expect(await explain('sim', wallet)).toBe(
      `not a contract: sim has no code at ${wallet}, so no transfer can be indexed for it
Try: check the address and the chain; for the NFTs of a wallet, request /api/v2.2/${wallet}/nft?chain=sim
`,
    )
    const [contract] = [...truthByContract(node.chain, { from: 0, to: 299 })][0]!
    expect(await explain('sim', contract)).not.toContain('not a contract')
  })

  test('a transfer is explained by range, evidence, endpoint and decoder', async () => {
    await place.runHere(['sync', '--chain', 'sim', '--from', '100', '--to', '299'])
    const truth = [...truthByContract(node.chain, { from: 0, to: 299 })].sort((a, b) => b[1].length - a[1].length)
    const [contract, transfers] = truth[0]!
    const of = async (transfer: string) => {
      const shown = explanation.parse(JSON.parse(await explain('sim', contract, '--transfer', transfer, '--json')))
      return shown.transfer!
    }
    const stored = transfers.find(({ block }) => block >= 100)!
    const at = `${stored.transactionHash}:${stored.logIndex}`
    expect(await of(at)).toMatchObject({
      verdict: 'stored',
      rows: [{ block: stored.block, log_index: stored.logIndex }],
      covered: { from: 100, to: 299, evidence: 'receipts-root' },
      node: { block: stored.block, succeeded: true },
    })
    const earlier = transfers.find(({ block }) => block < 100)!
    const uncovered = await of(earlier.transactionHash)
    expect(uncovered).toMatchObject({ verdict: 'not covered', rows: [], covered: null })
    expect(uncovered.because).toContain(`Block ${earlier.block} is not covered: 100 to 299 is`)
    expect(await of(`0x${'ab'.repeat(32)}`)).toMatchObject({ verdict: 'unknown transaction', node: null })
    expect(await of(`${stored.transactionHash}:999999`)).toMatchObject({ verdict: 'no transfer' })
    const [other] = truth.find(([, others]) => others.every(one => one.transactionHash !== stored.transactionHash))!
    const elsewhere = JSON.parse(await explain('sim', other, '--transfer', at, '--json'))
    expect(elsewhere.transfer.verdict).toBe('no transfer')

    const { code, stdout: text, stderr } = await place.run(['explain', 'sim', contract, '--transfer', at])
    expect([code, stderr]).toEqual([0, ''])
    expect(text).toMatch(/blocks 100 to 299 are covered: receipts-root/)
    expect(text).toMatch(/transfer +stored: Block \d+ is stored with it \(evidence: receipts-root\)/)
  })

  test('a contract of which nothing is indexed: why, and what to do', async () => {
    const [contract] = [...truthByContract(node.chain, { from: 0, to: 299 }).keys()]
    const rpc = node.url
    await makeStore(place.storeUrl)
    expect(await explain('sim', contract!)).toMatch(
      /^index {16}no block is indexed yet; .*\n {2}Try: \S*almanac status,/m,
    )
    place.configure({ sim: { id: chainId, rpc } })
    const unasked = await explain('sim', contract!)
    expect(unasked).toMatch(/^index {16}not requested yet: the first request indexes it; head unknown, final unknown$/m)
    expect(unasked).toContain(
      `\n  Try: request /api/v2.2/nft/${contract}/transfers?chain=sim, or list it under chains.sim.`,
    )
    place.configure({ sim: { id: chainId, rpc, contracts: [contract] } })
    expect(await explain('sim', contract!)).toMatch(/^index {16}requested, not indexed yet; /m)
    await place.runHere(['sync', '--chain', 'sim', '--from', '0', '--to', '299'])
    expect(await explain('sim', contract!)).toMatch(/^index {16}\d+ transfers?; /m)
  })

  thorough(
    'a running service asks through the endpoints that it indexes with, so that limits and counts hold',
    async () => {
      const run = place.begin(['start', '--listen', '127.0.0.1:0', '--ops-open'], { ALMANAC_KEY: 'the-operator-key' })
      const url = await run.listening()
      const [contract, [transfer]] = [...truthByContract(node.chain, { from: 0, to: 299 })][0]!
      const path = `${url}/explain/sim/${contract}?transfer=${transfer!.transactionHash}`
      const ask = async () => (await fetch(path, { headers: { 'x-api-key': 'the-operator-key' } })).json()
      await run.until(async () => explanation.parse(await ask()).transfer?.verdict === 'stored', 'an explanation')
      // Balances take the same way.
      const { from } = node.chain.block(150).transactions[0]!
      const balance = await fetch(`${url}/api/v2.2/${from}/balance?chain=sim&to_block=200`, {
        headers: { 'x-api-key': 'the-operator-key' },
      })
      expect(await balance.json()).toEqual({ balance: `${node.chain.balanceAt(from, 200)}` })
      const uncounted = async () => {
        const metrics = await (await fetch(`${url}/metrics`)).text()
        const counts = metrics.matchAll(/^almanac_evm_rpc_requests_total\{chain="sim".*\} (\d+)$/gm)
        return node.endpoints[0]!.requests - [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
      }
      // Requests go on meanwhile; one that nobody counts would stay. One given up is counted, and may not have arrived.
      await expect.poll(uncounted).toBeLessThanOrEqual(0)
      // `ops_open` opens what is known, not what has to be asked of nodes.
      expect((await fetch(`${url}/status`)).status).toBe(200)
      expect((await fetch(path)).status).toBe(401)
      expect((await fetch(path.replace(/\?.*/, ''))).status).toBe(401)
    },
  )

  test('on a terminal lines break between words, under what they are about, and numbers are grouped', async () => {
    const tall = await startSimNode({ chain: { chainId, height: 1_364, hashes: 'cheap', ...lightBlocks } })
    try {
      place.configure({ sim: { id: chainId, rpc: [tall.url], index: 'full' } })
      await place.runHere(['sync', '--chain', 'sim', '--from', '1000', '--to', '1299'])
      const [contract] = [...truthByContract(tall.chain, { from: 1_000, to: 1_299 }).keys()]
      const { code, stdout } = await place.beginOnTerminal(['explain', 'sim', contract!], {}, 60).ended()
      expect(code).toBe(0)
      const lines = stdout.trimEnd().split('\r\n')
      for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(60)
      expect(lines[1]).toMatch(/^ {2}\S/)
      expect(stdout).toMatch(/^index {16}\d+ transfers?; head [\w,]+, final 1,299/m)
      expect(stdout).toMatch(/ {2}blocks 1,000 to 1,299 are covered: /)
    } finally {
      await tall.close()
    }
  })

  test('slips are told', async () => {
    await makeStore(place.storeUrl)
    const unconfigured = await place.runHere(['explain', 'polygon', `0x${'1'.repeat(40)}`])
    expect(unconfigured).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: 'Error: The chain "polygon" is not configured.\nTry:   configured chains: sim.\n',
    })
    expect(await place.runHere(['explain', `0x${'1'.repeat(40)}`])).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringMatching(/: no chain is given\. Configured chains: sim\.\nTry: .* explain sim 0x1{40}\n$/),
    })
    const wrong = await place.runHere(['explain', 'sim', `0x${'1'.repeat(40)}`, '--transfer', '0x12'])
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('pass the hash of a transaction')])
  })
})

describe('over HTTP', () => {
  let api: ServedApi
  const contract = seeded.collection
  beforeEach(async () => {
    api = await serveApi({ fill: seed })
  })
  afterEach(() => api.close())

  const ask = async (target: string) => explanation.parse(await (await api.get(target)).json())

  test('flags, rules and labels come with their origins, and pins win', async () => {
    const chain = seeded.chains.eth
    await api.store.annotate({
      labels: [
        ...(['imported', 'operator'] as const).map(rank => ({
          ...{ chain: undefined, address: contract, label: rank, source: rank, rank, updatedAt: 1 },
        })),
      ],
    })
    const { facts } = await api.store.annotationsOf(chain, contract)
    await api.store.annotate({
      facts: [
        {
          ...facts!,
          possibleSpam: true,
          verdict: {
            ...{ rulesVersion: 1, score: 1.5, basis: 'x', judgedAtMs: 5 },
            reasons: [{ rule: 'imitation', weight: 1, numbers: { distance: 1 } }],
          },
        },
      ],
    })
    const shown = await ask(`/explain/eth/${contract}`)
    expect(shown).toMatchObject({
      verified_collection: { value: true, because: 'list', mark: { source: 'seed' } },
      possible_spam: { value: false, because: 'verified', score: 1.5, rules: [{ rule: 'imitation', weight: 1 }] },
      labels: [
        { label: 'operator', shown: true },
        { label: 'imported', shown: false },
      ],
      name: 'Collection',
    })
    expect(shown.possible_spam.rules[0]?.reason).toMatch(/verified collection/)
    const pin = { chain, contract, source: 'operator', rank: 'operator', updatedAt: 9 } as const
    await api.store.annotate({ marks: [{ ...pin, verified: false, spam: undefined }] })
    expect(await ask(`/explain/0x1/${contract}`)).toMatchObject({
      verified_collection: { value: false, because: 'pin' },
      possible_spam: { value: true, because: 'rules' },
    })
    const unknown = await ask(`/explain/polygon/0x${'9'.repeat(40)}`)
    expect(unknown).toMatchObject({ verified_collection: { value: false, because: 'nobody' }, name: null, labels: [] })
  })

  test('a transfer needs a node that can be asked, and the scope ops', async () => {
    const transfer = `0x${'ab'.repeat(32)}`
    const shown = await ask(`/explain/eth/${contract}?transfer=${transfer}`)
    expect(shown.transfer).toMatchObject({ verdict: 'not asked' })
    expect((await api.get(`/explain/eth/${contract}?transfer=1`)).status).toBe(400)
    expect((await api.get(`/explain/eth/${contract}?note=why?&transfer=1`)).status).toBe(400)
    expect((await api.get(`/explain/nowhere/${contract}`)).status).toBe(400)
    expect((await api.get('/explain/eth/0x12')).status).toBe(400)
    expect((await api.get(`/explain/eth/${contract}`, { 'x-api-key': undefined })).status).toBe(401)
  })

  test('a node that does not answer is named as such', async () => {
    const own = await serveApi({
      fill: seed,
      settings: { requestTimeoutMs: 50 },
      parts: {
        askTransaction: async (_, signal) => {
          await once(signal, 'abort')
          throw new AlmanacError('interrupted', 'The request was called off.', { cause: signal.reason })
        },
      },
    })
    try {
      const answer = await own.get(`/explain/eth/${contract}?transfer=0x${'cd'.repeat(32)}`)
      expect(answer.status).toBe(504)
      expect(await answer.json()).toMatchObject({ code: 'timeout', message: 'No node of eth answered within 50 ms' })
    } finally {
      await own.close()
    }
  })

  test('a transfer is found behind ten thousand others of its block', async () => {
    const chain = seeded.chains.eth
    const crowded = `0x${'c0'.repeat(20)}` as Address
    const [facts] = seededTransfers(contract)
    const hash = `0x${'cd'.repeat(32)}` as Hash
    const block = { number: 5_000_000, hash: `0x${'ce'.repeat(32)}` as Hash, timestamp: 1_700_000_000 }
    const rows = Array.from({ length: 10_002 }, (_, logIndex) => ({
      ...{
        block: block.number,
        transactionIndex: logIndex < 10_001 ? 0 : 1,
        logIndex,
        batchIndex: 0,
        contract: crowded,
      },
      payload: packTransfer({ ...facts!, idCount: 1, ...(logIndex === 10_001 && { transactionHash: hash }) }),
    }))
    const own = await serveApi({
      fill: async store => {
        await store.commitCold({
          chain,
          covered: [{ from: block.number, to: block.number, evidence: 'bloom', scope: 'full' }],
          blocks: [block],
          transfers: rows,
          activity: noActivity,
        })
      },
      parts: {
        askTransaction: async () => ({
          ...{ endpoint: 'node', block: block.number, transactionIndex: 1, succeeded: true, otherLogs: 0 },
          ...{ from: undefined, to: undefined, value: '0', created: undefined, emitters: [] },
          logs: [{ logIndex: 10_001, transfers: 1, reason: undefined }],
        }),
      },
    })
    try {
      const answer = await own.get(`/explain/eth/${crowded}?transfer=${hash}`)
      const { transfer } = explanation.parse(await answer.json())
      expect(transfer).toMatchObject({ verdict: 'stored', rows: [{ log_index: 10_001 }] })
    } finally {
      await own.close()
    }
  })

  test('what the node has and the store lacks in covered blocks is called missing', async () => {
    const hash = `0x${'cd'.repeat(32)}`
    const node = {
      ...{ endpoint: 'node', transactionIndex: 0, succeeded: true, otherLogs: 0 },
      ...{ from: undefined, to: undefined, value: '0', created: undefined, emitters: [] },
    }
    const own = await serveApi({
      fill: seed,
      parts: {
        askTransaction: async () => ({
          ...node,
          block: 5_000,
          logs: [{ logIndex: 77, transfers: 1, reason: undefined }],
        }),
      },
    })
    try {
      const answer = await own.get(`/explain/eth/${contract}?transfer=${hash}`)
      expect(explanation.parse(await answer.json()).transfer).toMatchObject({ verdict: 'missing' })
    } finally {
      await own.close()
    }
  })
})
