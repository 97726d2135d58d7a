// Blocks in the form of portals against the same blocks in the form of nodes: recorded ones of mainnet, whose
// transactions are of every type, and simulated ones; and what is made of those that cannot be proven.
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, test } from 'vitest'
import { answersOf } from '../../../test/history-blocks.ts'
import { nodeTruth, simulated, trialChain, truthOf } from '../../../test/portal-trial.ts'
import { mainnetBlocks } from '../../../test/recordings.ts'
import { SimChain } from '../../../test/sim/chain.ts'
import { type PortalBlock, type PortalFields, portalBlock, portalForm, selected } from '../../../test/sim/portal.ts'
import { ChainTable, ethereumHeaders } from '../../chains.ts'
import { quantityBytes } from '../../hex.ts'
import { activityCount } from '../../store/packed-activity.ts'
import { keccak256, keccakDigits } from '../proof/block-hash.ts'
import { signedPart } from '../proof/transactions-root.ts'
import type { RpcReceipt, RpcTransaction } from '../rpc/port.ts'
import { decodeRange } from '../source/decode-range.ts'
import { decodePortalBodies, type PortalTask } from './portal-blocks.ts'
import { queryBody } from './portal-query.ts'

const eth = new ChainTable().parse('eth')!

/** The columns that are asked for, as lines. */
function bodyOf(blocks: readonly PortalBlock[], without: readonly string[] = []): Uint8Array {
  const query = JSON.parse(queryBody({ from: 0, to: 0 }, { content: 'whole', without }))
  return Buffer.from(blocks.map(block => `${JSON.stringify(selected(block, query))}\n`).join(''))
}

function senderOf(transaction: RpcTransaction): string {
  const { bytes, parity } = signedPart(transaction)!
  const { r, s } = transaction as unknown as Record<'r' | 's', string>
  const parts = [r, s].map(part => Buffer.concat([Buffer.alloc(32), quantityBytes(part)!]).subarray(-32))
  const signature = secp256k1.Signature.fromBytes(Buffer.concat([Buffer.of(parity), ...parts]), 'recovered')
  return `0x${keccakDigits(signature.recoverPublicKey(keccak256(bytes)).toBytes(false).subarray(1)).slice(24)}`
}

describe('recorded blocks of mainnet', () => {
  const recorded = mainnetBlocks()
    .filter(({ receipts }) => receipts.length < 400_000)
    .map(answersOf)
  /** With the senders of those that have logs of NFTs; the others' are not looked at. */
  const withSenders = (answers: { block: { transactions: unknown }; receipts: RpcReceipt[] }): void => {
    for (const [at, transaction] of (answers.block.transactions as RpcTransaction[]).entries())
      if (answers.receipts[at]!.logs.some(({ topics }) => topics.length === 4)) transaction.from = senderOf(transaction)
  }

  test('give the rows of the same blocks over JSON-RPC, proven', () => {
    const types = new Set<unknown>()
    for (const answers of recorded) {
      withSenders(answers)
      const { block, receipts } = answers
      const interval = { from: Number(block.number), to: Number(block.number) }
      const logs = receipts.flatMap(receipt => receipt.logs) as unknown as PortalFields[]
      const portal = portalForm(block as unknown as PortalFields, receipts as unknown as PortalFields[], logs)
      for (const { type } of portal.transactions ?? []) types.add(type)
      const task = { chain: eth, scope: 'transfers', interval, bodies: [bodyOf([portal])], lacking: [] } as const
      const given = { blocks: [block], receipts: [receipts] }
      const expected = decodeRange({ ...task, answers: given, grain: 'range', bytes: task.bodies[0]!.length })
      expect(decodePortalBodies(task)).toEqual({ ...expected, completed: 0, tookMs: expect.any(Number) })
      expect(expected).toMatchObject({ ok: true, range: { evidence: 'receipts-root' } })
    }
    expect([...types].sort()).toEqual([0, 1, 2, 3, 4])
  })

  test('are refused with another sender, and with another one only where it is shown', () => {
    const answers = recorded.find(({ receipts }) => receipts.some(({ logs }) => logs.length > 0))!
    withSenders(answers)
    const { block, receipts } = answers
    const interval = { from: Number(block.number), to: Number(block.number) }
    const logs = receipts.flatMap(receipt => receipt.logs) as unknown as PortalFields[]
    const portal = portalForm(block as unknown as PortalFields, receipts as unknown as PortalFields[], logs)
    const task = { chain: eth, interval, bodies: [bodyOf([portal])], lacking: [] }
    expect(decodePortalBodies({ ...task, scope: 'transfers' }).ok).toBe(true)
    expect(decodePortalBodies({ ...task, scope: 'full' })).toMatchObject({ ok: false, failure: { check: 'sender' } })
  })
})

describe('simulated blocks', () => {
  const interval = { from: 20, to: 25 }
  const blocks = (): PortalBlock[] =>
    Array.from({ length: 6 }, (_, at) => structuredClone(portalBlock(trialChain, interval.from + at)))
  const task = (given: PortalBlock[], lacking: string[] = []): PortalTask => {
    return { chain: simulated, scope: 'transfers', interval, bodies: [bodyOf(given, lacking)], lacking }
  }
  const nodeHeaders = blocks().map(({ header }) => ({ ...header, number: undefined, timestamp: undefined }))

  test.each(['full', 'transfers'] as const)('give what nodes give (%s)', scope => {
    const result = decodePortalBodies({ ...task(blocks()), scope })
    if (!result.ok) throw new Error(result.failure.message)
    const { bytes: _, ...truth } = truthOf(interval, scope)
    expect(result.range).toMatchObject(truth)
    expect(truth.transfers.length).toBeGreaterThan(10)
    expect(activityCount(result.range.activity) > 0).toBe(scope === 'full')
  })

  test('in any order of their items', () => {
    const shuffled = blocks()
    for (const { transactions, logs } of shuffled) for (const items of [transactions, logs]) items?.reverse()
    const result = decodePortalBodies(task(shuffled))
    expect(result).toMatchObject({ ok: true, range: { evidence: 'receipts-root' } })
    expect(result.ok && result.range.transfers).toEqual(truthOf(interval, 'transfers').transfers)
  })

  test('of a dataset without a column of headers are proven with those of a node, and else are its word', () => {
    const given = task(blocks(), ['block.mixHash'])
    expect(decodePortalBodies(given)).toMatchObject({
      ok: true,
      range: { evidence: 'one-endpoint', headersProven: false },
      completed: 0,
    })
    const proven = decodePortalBodies({ ...given, headers: nodeHeaders })
    expect(proven).toMatchObject({ ok: true, range: { evidence: 'receipts-root' }, completed: 6 })
    const lie = blocks()
    lie[3]!.header.receiptsRoot = lie[4]!.header.receiptsRoot
    const refused = decodePortalBodies({ ...task(lie, ['block.mixHash']), headers: nodeHeaders })
    expect(refused).toMatchObject({ ok: false, failure: { check: 'block-hash', block: 23 } })
  })

  test('whose columns were served are refused where a value is missing', () => {
    const names = ['block.mixHash', 'block.logsBloom', 'block.gasLimit', 'transaction.gas', 'transaction.r']
    for (const name of [...names, 'transaction.maxFeePerGas', 'transaction.status', 'transaction.chainId']) {
      const [table, column] = name.split('.') as [string, string]
      const given = blocks()
      const typed = given.flatMap(({ transactions = [] }) => transactions).find(({ type }) => type === 2)!
      ;(table === 'block' ? given[3]!.header : typed)[column] = null
      expect(decodePortalBodies(task(given)), name).toMatchObject({ ok: false })
    }
  })

  test('of a dataset without a column of transactions are its word', () => {
    for (const column of ['transaction.accessList', 'transaction.gas', 'transaction.r', 'transaction.status']) {
      const result = decodePortalBodies(task(blocks(), [column]))
      expect(result, column).toMatchObject({ ok: true, range: { evidence: 'one-endpoint', headersProven: true } })
    }
  })

  test('before Byzantium are its word, and a bloom that does not fit refuses them', () => {
    // Deployments alone, which are of the first type.
    const sim = new SimChain({ hashes: 'real', signed: true, seed: 3, transactionsPerBlock: 0, deploymentSpan: 2 })
    const old = structuredClone(portalBlock(sim, 1))
    old.header.baseFeePerGas = null
    for (const transaction of old.transactions!) transaction.status = null
    const chain = { ...simulated, quirks: {} }
    const given = (): PortalTask => ({ ...task([old]), interval: { from: 1, to: 1 }, chain })
    expect(decodePortalBodies(given())).toMatchObject({ ok: true, range: { evidence: 'one-endpoint' } })
    old.logs = old.logs!.slice(1).map((log, at) => ({ ...log, logIndex: at }))
    expect(decodePortalBodies(given())).toMatchObject({ ok: false, failure: { check: 'bloom', block: 1 } })
  })

  test('of a chain whose headers are not known are its word', () => {
    const result = decodePortalBodies({ ...task(blocks()), chain: { ...simulated, quirks: {} } })
    expect(result).toMatchObject({ ok: true, range: { evidence: 'one-endpoint', headersProven: false } })
    const odd = { headers: { ...ethereumHeaders, required: ['extDataHash'] } }
    const other = decodePortalBodies({ ...task(blocks()), chain: { ...simulated, quirks: odd } })
    expect(other).toMatchObject({ ok: true, range: { evidence: 'one-endpoint', headersProven: false } })
  })

  test('with the state sync of Polygon give what nodes give, and are its word in that', () => {
    const quirks = { headers: ethereumHeaders, stateSyncTransactions: true } as const
    const shape = { hashes: 'real', signed: true, seed: 9, transactionsPerBlock: 2, contracts: 4 } as const
    const interval = { from: 63, to: 65 }
    for (const stateSync of ['listed', 'unlisted'] as const) {
      const sim = new SimChain({ ...shape, stateSync, height: 70, deploymentSpan: 8 })
      const chain = { ...simulated, quirks }
      const given = [63, 64, 65].map(number => portalBlock(sim, number))
      const result = decodePortalBodies({ ...task(given), chain, interval })
      if (!result.ok) throw new Error(result.failure.message)
      expect(result.range.evidence, stateSync).toBe('one-endpoint')
      expect(result.range.doubt?.reason).toMatch(/state-sync/)
      // Receipts of nodes that do not list it leave its logs out.
      const listed = new SimChain({ ...shape, stateSync: 'listed', height: 70, deploymentSpan: 8 })
      const truth = nodeTruth({ chain, sim: listed, interval, scope: 'transfers' })
      expect(result.range.transfers).toEqual(truth.transfers)
      expect(result.range.headers).toEqual(truth.headers)
      expect(truth.transfers.some(({ block }) => block === 64)).toBe(true)
    }
  })

  test('signed for another chain are refused', () => {
    const chain = { ...simulated, id: 5 as never, hexId: '0x5' }
    const result = decodePortalBodies({ ...task(blocks()), chain })
    expect(result).toMatchObject({ ok: false, failure: { check: 'transactions' } })
    expect(!result.ok && result.failure.message).toMatch(/is signed for the chain 1 and not for 5/)
  })

  test('that are too few, too many or no JSON are refused', () => {
    for (const body of [bodyOf(blocks().slice(1)), bodyOf([...blocks(), ...blocks()]), Buffer.from('{\n')])
      expect(decodePortalBodies({ ...task([]), bodies: [body] })).toMatchObject({ ok: false })
  })
})

test('blocks of a time that has not come are wrong, though they hash to their hash', () => {
  const ahead = new SimChain({ ...trialChain.options, genesisTime: 2 ** 33 })
  const task = { chain: simulated, scope: 'transfers', interval: { from: 5, to: 5 }, lacking: [] } as const
  const result = decodePortalBodies({ ...task, bodies: [bodyOf([portalBlock(ahead, 5)])] })
  const message = expect.stringMatching(/^block 5 has the time \d+, which has not come/)
  expect(result).toMatchObject({ ok: false, failure: { check: 'header-unreadable', block: 5, message } })
})
