import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Chain, defineChain, ethereumHeaders } from '../../chains.ts'
import { zeroAddress } from '../../model.ts'
import { sequenceLogs } from '../decode/log-sequence.ts'
import type { RpcBlock, RpcLog, RpcReceipt, RpcTransaction } from '../rpc/port.ts'
import { addToBloom, emptyBloom } from './bloom.ts'
import { receiptLogs } from './receipt-logs.ts'
import { receiptsRoot } from './receipts-root.ts'
import { checkHeaders, checkReceipts, verifyLogs, verifyReceipts } from './verify.ts'

const chain = defineChain({ name: 'test', id: 1 })
const withQuirks = (quirks: Chain['quirks']): Chain => ({ ...chain, quirks })
const hash = (digit: string): string => `0x${digit.repeat(64)}`
const hex = (number: number): string => `0x${number.toString(16)}`

/**
 * A block of transactions with that many logs each, right in every respect. All logs look alike, so the bloom tells
 * little.
 */
function made(logCounts: readonly number[], { perTransaction = false, alike = false } = {}) {
  const place = { blockNumber: '0x5', blockHash: hash('b') }
  let next = 0
  const receipts = logCounts.map((count, index): RpcReceipt => {
    const transactionHash = `0x${index.toString(16).padStart(64, '7')}`
    const logs = Array.from({ length: count }, (_, at): RpcLog => {
      const topic = alike ? hash('1') : `0x${next.toString(16).padStart(64, '1')}`
      const logIndex = hex(perTransaction ? at : next)
      next++
      const where = { ...place, transactionHash, transactionIndex: hex(index), logIndex }
      return { ...where, address: `0x${'cc'.repeat(20)}`, topics: [topic], data: hex(next).padEnd(66, '0') }
    })
    const gas = { cumulativeGasUsed: hex(21_000 * (index + 1)), logsBloom: bloomOf(logs) }
    return {
      ...place,
      ...gas,
      transactionHash,
      transactionIndex: hex(index),
      contractAddress: null,
      logs,
      type: '0x2',
      status: '0x1',
    }
  })
  const logs = receipts.flatMap(receipt => receipt.logs)
  const transactions = receipts.map(
    ({ transactionHash, transactionIndex }): RpcTransaction => ({
      hash: transactionHash,
      transactionIndex,
      from: `0x${'aa'.repeat(20)}`,
      to: `0x${'cc'.repeat(20)}`,
      value: '0x0',
      nonce: '0x0',
    }),
  )
  const links = { number: '0x5', hash: hash('b'), parentHash: hash('a'), timestamp: '0x64' }
  const block: RpcBlock = { ...links, logsBloom: bloomOf(logs), receiptsRoot: receiptsRoot(receipts)!, transactions }
  return { block, logs, receipts }
}

function bloomOf(logs: readonly RpcLog[]): string {
  const bloom = emptyBloom()
  for (const log of logs) addToBloom(bloom, log)
  return `0x${Buffer.from(bloom).toString('hex')}`
}

const byLogs = (block: RpcBlock, logs: readonly RpcLog[], on = chain) =>
  verifyLogs({ chain: on, block, logs: sequenceLogs(logs, { complete: true }) })
const byReceipts = (block: RpcBlock, receipts: readonly RpcReceipt[], on = chain) => {
  const failure = checkReceipts(on, block, receipts)
  if (failure !== undefined) return { ok: false, failure } as const
  const placed = receiptLogs(on, block, receipts)
  if ('failure' in placed) return { ok: false, failure: placed.failure } as const
  return verifyReceipts({ chain: on, block, receipts, logs: placed.logs })
}
/** Numbered as they stand. */
function withPlaces(receipts: readonly RpcReceipt[]): RpcReceipt[] {
  let next = 0
  return receipts.map(receipt => ({ ...receipt, logs: receipt.logs.map(log => ({ ...log, logIndex: hex(next++) })) }))
}
const failed = (check: string) => ({ ok: false, failure: { check, block: 5 } })

describe('headers', () => {
  const headers = [1, 2, 3].map(number => ({
    ...made([]).block,
    number: hex(number),
    hash: hash(hex(number).slice(2)),
    parentHash: hash(hex(number - 1).slice(2)),
  }))
  const range = { chain, from: 1, to: 3, headers }

  test('linked headers pass, with the hash before them where it is known', () => {
    expect(checkHeaders(range)).toBeUndefined()
    expect(checkHeaders({ ...range, parentHash: hash('0') })).toBeUndefined()
    expect(checkHeaders({ ...range, parentHash: hash('f') })).toMatchObject({ check: 'links', block: 1 })
  })

  test('a missing end voids the answer', () => {
    expect(checkHeaders({ ...range, headers: headers.with(2, null as never) })).toEqual({
      check: 'header-missing',
      block: 3,
      message: 'the node has no block 3, though it answered for the blocks up to 3',
    })
    expect(checkHeaders({ ...range, headers: headers.slice(0, 2) })).toMatchObject({
      check: 'header-missing',
      block: 3,
    })
  })

  test('a block of another branch, another number or without a hash fails', () => {
    expect(checkHeaders({ ...range, headers: headers.with(1, { ...headers[1]!, hash: hash('e') }) })).toMatchObject({
      check: 'links',
      block: 3,
      message: `block 3 names ${hash('2')} as its parent, block 2 came as ${hash('e')}`,
    })
    expect(checkHeaders({ ...range, headers: headers.with(1, headers[0]!) })).toMatchObject({
      check: 'header-unreadable',
      block: 2,
    })
    expect(checkHeaders({ ...range, headers: headers.with(0, { ...headers[0]!, hash: null as never }) })).toMatchObject(
      {
        check: 'header-unreadable',
        block: 1,
      },
    )
  })

  test('a header that its hash was not made of fails where hashes are Ethereum hashes', () => {
    const roots = { sha3Uncles: hash('1'), miner: zeroAddress, stateRoot: hash('2'), transactionsRoot: hash('3') }
    const rest = {
      difficulty: '0x0',
      gasLimit: '0x1',
      gasUsed: '0x0',
      extraData: '0x',
      mixHash: hash('4'),
      nonce: `0x${'0'.repeat(16)}`,
    }
    const whole = headers.map(header => ({ ...header, ...roots, ...rest }))
    const ethereum = withQuirks({ headers: ethereumHeaders })
    expect(checkHeaders({ ...range, chain: ethereum, headers: whole })).toMatchObject({ check: 'block-hash', block: 1 })
    const doubts = (headers: readonly (typeof whole)[number][], on = ethereum): string[] => {
      const reasons: string[] = []
      const onDoubt = ({ reason }: { reason: string }) => reasons.push(reason)
      expect(checkHeaders({ ...range, chain: on, headers, onDoubt })).toBeUndefined()
      return reasons
    }
    const newer = whole.map(header => ({ ...header, fieldOfALaterFork: '0x1' }))
    expect(doubts(newer)[0]).toBe('block 1: the header has an unknown field fieldOfALaterFork')
    const left = whole.map(({ mixHash: _, ...header }) => header as (typeof whole)[number])
    expect(doubts(left)[2]).toBe('block 3: the header came without a readable mixHash')
    const none = whole.map(header => ({ ...header, baseFeePerGas: null as never }))
    expect(doubts(none)[0]).toBe('block 1: the header came without a readable baseFeePerGas')
    expect(doubts(whole, chain)).toHaveLength(3)
  })
})

describe('by logs', () => {
  test('all logs pass, in any order and repeated', () => {
    const { block, logs } = made([3, 0, 2])
    expect(byLogs(block, logs)).toEqual({ ok: true, evidence: 'bloom' })
    expect(byLogs(block, [...logs].reverse().concat(logs))).toEqual({ ok: true, evidence: 'bloom' })
    expect(byLogs(made([]).block, [])).toEqual({ ok: true, evidence: 'bloom' })
  })

  test('any one dropped log is noticed, by its bits or by its index', () => {
    const { block, logs } = made([3, 0, 2])
    for (const drop of logs.keys()) expect(byLogs(block, logs.toSpliced(drop, 1)).ok, `log ${drop}`).toBe(false)
    expect(byLogs(block, logs.slice(0, -1))).toMatchObject({
      failure: {
        check: 'bloom',
        block: 5,
        message: expect.stringContaining('block 5: the bloom of the 4 logs that came lacks') as string,
      },
    })
    expect(byLogs(block, logs.slice(1))).toMatchObject({
      failure: { check: 'log-gap', message: 'block 5: log 0 is missing; of the 4 logs that came the next is log 1' },
    })
  })

  test('where all logs look alike only the last can hide, and receipts find it', () => {
    const { block, logs, receipts } = made([2, 2], { alike: true })
    for (const drop of [0, 1, 2]) expect(byLogs(block, logs.toSpliced(drop, 1))).toMatchObject(failed('log-gap'))
    expect(byLogs(block, logs.slice(0, -1)).ok).toBe(true)
    const short = receipts.with(1, { ...receipts[1]!, logs: receipts[1]!.logs.slice(0, 1) })
    expect(byReceipts(block, short)).toMatchObject(failed('receipts-root'))
  })

  test('an added or foreign log fails', () => {
    const { block, logs } = made([2])
    const added = { ...logs[1]!, logIndex: '0x2', topics: [hash('9')] }
    expect(byLogs(block, [...logs, added])).toMatchObject(failed('bloom'))
    expect(byLogs(block, logs.with(1, { ...logs[1]!, blockHash: hash('c') }))).toMatchObject(failed('log-place'))
    expect(byLogs(block, logs.with(1, { ...logs[1]!, transactionHash: hash('c') }))).toMatchObject(failed('log-place'))
    expect(byLogs(block, logs.with(1, { ...logs[1]!, transactionIndex: '0x1' }))).toMatchObject(failed('log-place'))
    expect(byLogs(block, logs.with(1, { ...logs[1]!, topics: ['0xzz'] }))).toMatchObject(failed('bloom'))
    expect(byLogs(block, logs.with(1, { ...logs[1]!, data: [[]] as never }))).toMatchObject(failed('bloom'))
    expect(byLogs({ ...block, logsBloom: null }, logs)).toMatchObject(failed('bloom'))
  })

  test('transactions must be whole and in their places', () => {
    const { block, logs } = made([1, 1])
    expect(byLogs({ ...block, transactions: [hash('7'), hash('8')] }, logs)).toMatchObject(failed('transactions'))
    expect(byLogs({ ...block, transactions: [...block.transactions].reverse() }, logs)).toMatchObject(
      failed('transactions'),
    )
    expect(byLogs({ ...block, transactions: undefined as never }, logs)).toMatchObject(failed('transactions'))
  })

  test('indexes that restart with every transaction pass, with a hole they do not', () => {
    const { block, logs } = made([3, 0, 2, 1], { perTransaction: true, alike: true })
    expect(byLogs(block, logs)).toEqual({ ok: true, evidence: 'bloom' })
    for (const drop of [0, 1, 3]) expect(byLogs(block, logs.toSpliced(drop, 1))).toMatchObject(failed('log-gap'))
  })

  test('a chain that leaves holes is held to its bloom', () => {
    const { block, logs } = made([4])
    const holes = logs.map((log, at) => ({ ...log, logIndex: hex(at * 3) }))
    expect(byLogs(block, holes)).toMatchObject(failed('log-gap'))
    const cronos = withQuirks({ receiptsMayBeMissing: true, foreignReceiptsRoot: true })
    expect(byLogs(block, holes, cronos).ok).toBe(true)
    expect(byLogs(block, holes.slice(1), cronos)).toMatchObject(failed('bloom'))
  })

  test('state-sync logs stand outside the bloom before the fork, and inside after it', () => {
    const polygon = withQuirks({ stateSyncTransactions: true })
    const { block, logs } = made([2, 1])
    const [first, second] = block.transactions as RpcTransaction[]
    const transactions = [first!, { ...second!, from: zeroAddress, to: zeroAddress }]
    const outside = { ...block, transactions, logsBloom: bloomOf(logs.slice(0, 2)) }
    expect(byLogs(outside, logs)).toMatchObject(failed('bloom'))
    expect(byLogs(outside, logs, polygon).ok).toBe(true)
    expect(byLogs(outside, logs.with(2, { ...logs[2]!, logIndex: '0x0' }), polygon).ok, 'numbered from 0').toBe(true)
    expect(byLogs({ ...outside, transactions: [first!] }, logs, polygon).ok, 'after the list').toBe(true)
    expect(byLogs({ ...block, transactions }, logs, polygon).ok, 'inside the bloom').toBe(true)
    expect(byLogs(outside, logs.slice(1), polygon)).toMatchObject(failed('log-gap'))
  })
})

describe('by receipts', () => {
  test('any change of any log is noticed', () => {
    const { block, receipts } = made([2, 0, 3], { alike: true })
    expect(byReceipts(block, receipts)).toEqual({ ok: true, evidence: 'receipts-root' })
    for (const [index, receipt] of receipts.entries()) {
      for (const drop of receipt.logs.keys()) {
        const less = { ...receipt, logs: receipt.logs.toSpliced(drop, 1) }
        // By the places of what follows, and by the root where the node numbers the rest anew.
        expect(byReceipts(block, receipts.with(index, less)).ok, `${index} ${drop}`).toBe(false)
        const renumbered = withPlaces(receipts.with(index, less))
        expect(byReceipts(block, renumbered), `${index} ${drop}`).toMatchObject(failed('receipts-root'))
      }
    }
    const altered = { ...receipts[0]!, logs: receipts[0]!.logs.with(0, { ...receipts[0]!.logs[0]!, data: '0x01' }) }
    expect(byReceipts(block, receipts.with(0, altered))).toMatchObject(failed('receipts-root'))
  })

  test('what the logs say of their places must be what the receipts say', () => {
    const { block, receipts } = made([2, 0, 3])
    const lies: Partial<RpcLog>[] = [
      { removed: true },
      { removed: 'yes' as never },
      { logIndex: null },
      { logIndex: '0x3e8' },
      { transactionIndex: '0x2' },
      { transactionIndex: null },
      { transactionHash: receipts[2]!.transactionHash },
      { blockHash: hash('c') },
      { blockNumber: '0x6' },
    ]
    for (const lie of lies) {
      const logs = receipts[0]!.logs.with(1, { ...receipts[0]!.logs[1]!, ...lie })
      expect(byReceipts(block, receipts.with(0, { ...receipts[0]!, logs })), JSON.stringify(lie)).toMatchObject(
        failed('log-place'),
      )
    }
    const perTransaction = made([3, 0, 2], { perTransaction: true })
    const placed = receiptLogs(chain, perTransaction.block, perTransaction.receipts)
    expect('logs' in placed && [...placed.logs.logIndexes]).toEqual([0, 1, 2, 3, 4])
    const gaps = withPlaces(receipts).map(receipt => ({
      ...receipt,
      logs: receipt.logs.map(log => ({ ...log, logIndex: hex(3 * Number(log.logIndex)) })),
    }))
    expect(byReceipts(block, gaps)).toMatchObject(failed('log-place'))
    const cronos = receiptLogs(withQuirks({ receiptsMayBeMissing: true }), block, gaps)
    expect('logs' in cronos && [...cronos.logs.logIndexes]).toEqual([0, 3, 6, 9, 12])
  })

  test('receipts must be all there, in order and of this block', () => {
    const { block, receipts } = made([1, 1])
    expect(byReceipts(block, receipts.slice(1))).toMatchObject({
      failure: { check: 'receipts', message: 'block 5 lists 2 transactions, 1 receipts came' },
    })
    expect(byReceipts(block, [...receipts].reverse())).toMatchObject(failed('receipts'))
    expect(byReceipts(block, receipts.with(1, { ...receipts[1]!, blockHash: hash('c') }))).toMatchObject(
      failed('receipts'),
    )
    expect(byReceipts(block, receipts.with(1, { ...receipts[1]!, status: '0xzz' }))).toMatchObject(failed('receipts'))
  })

  test('a foreign root leaves the bloom, even where receipts are missing', () => {
    const cronos = withQuirks({ receiptsMayBeMissing: true, foreignReceiptsRoot: true })
    const { block, receipts } = made([1, 0, 1])
    const foreign = { ...block, receiptsRoot: hash('f') }
    expect(byReceipts(foreign, receipts.toSpliced(1, 1), cronos)).toEqual({ ok: true, evidence: 'bloom' })
    expect(byReceipts(foreign, receipts.toSpliced(2, 1), cronos)).toMatchObject(failed('bloom'))
  })

  test('the receipt of a state-sync transaction may be inside or outside the root', () => {
    const polygon = withQuirks({ stateSyncTransactions: true })
    const { block, receipts } = made([2, 1])
    const transactions = [
      block.transactions[0]!,
      { ...(block.transactions[1] as RpcTransaction), from: zeroAddress, to: zeroAddress },
    ]
    const outside = { ...block, transactions, receiptsRoot: receiptsRoot(receipts.slice(0, 1))! }
    const proven = { ok: true, evidence: 'receipts-root' }
    // What no known root proves is the node's word.
    const doubt = { reason: 'block 5: no root proves the logs of its state-sync transaction', elsewhere: false }
    const inside = { ...proven, doubt: { ...doubt, elsewhere: true } }
    expect(byReceipts({ ...block, transactions }, receipts, polygon)).toEqual(inside)
    for (const given of [outside, { ...outside, transactions: transactions.slice(0, 1) }]) {
      expect(byReceipts(given, receipts, polygon)).toEqual({ ...proven, doubt })
    }
    const silent = receipts.with(1, { ...receipts[1]!, logs: [] })
    expect(byReceipts(outside, silent, polygon)).toEqual(proven)
    expect(byReceipts(outside, receipts.slice(1), polygon)).toMatchObject(failed('receipts-root'))
  })

  test('receipts and logs that are moved behind the listed transactions are not proven', () => {
    const polygon = withQuirks({ stateSyncTransactions: true })
    const { block, receipts } = made([2, 1, 0])
    const moved = (receipt: RpcReceipt, index: number, transactionHash = hash('e')): RpcReceipt => {
      const place = { transactionIndex: hex(index), transactionHash }
      return { ...receipt, ...place, logs: receipt.logs.map(log => ({ ...log, ...place })) }
    }
    const [first, second, third] = receipts as [RpcReceipt, RpcReceipt, RpcReceipt]
    const behind = [first, moved(second, 3), moved(third, 4)]
    const byOne = [first, moved(second, 2, third.transactionHash), moved(third, 3)]
    for (const lie of [behind, byOne])
      expect(byReceipts(block, lie, polygon)).toMatchObject({ ok: true, doubt: { elsewhere: true } })
    const logs = behind.flatMap(receipt => receipt.logs)
    expect(byLogs(block, logs, polygon)).toMatchObject({ ok: true, doubt: { elsewhere: true } })
    // Without logs a receipt makes no row.
    expect(byReceipts(block, [first, second, moved(third, 3)], polygon)).toEqual({
      ok: true,
      evidence: 'receipts-root',
    })
  })
})

test('no answer makes a check throw', () => {
  const { block, logs, receipts } = made([1, 1])
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(null, undefined, '0x', '0x1', hash('b')))
  const spoilt = <T extends object>(base: T) =>
    fc
      .tuple(fc.constantFrom(...(Object.keys(base) as (keyof T)[])), odd)
      .map(([key, value]) => ({ ...base, [key]: value }) as T)
  fc.assert(
    fc.property(
      spoilt(block),
      spoilt(logs[0]!),
      fc.oneof(spoilt(receipts[0]!), odd),
      (oddBlock, oddLog, oddReceipt) => {
        byLogs(oddBlock, [oddLog, logs[1]!])
        byLogs(block, [oddLog, logs[1]!])
        byReceipts(block, [oddReceipt as RpcReceipt, receipts[1]!])
        byReceipts(oddBlock, receipts)
        byReceipts(block, [{ ...receipts[0]!, logs: [oddLog] }, receipts[1]!])
        checkHeaders({ chain: withQuirks({ headers: ethereumHeaders }), from: 5, to: 5, headers: [oddBlock] })
      },
    ),
  )
})
