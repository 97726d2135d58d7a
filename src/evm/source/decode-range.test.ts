import { describe, expect, test } from 'vitest'
import { canonicalSteps, polygonOrphan, polygonSteps } from '../../../test/recordings.ts'
import { builtInChains } from '../../chains.ts'
import { joinActivity, mergePacked } from '../../store/packed-activity.ts'
import { topics } from '../decode/token-events.ts'
import { hotBlocksOf } from '../index/backfill.ts'
import type { RpcBlock, RpcLog, RpcTransaction } from '../rpc/port.ts'
import { decodeRange } from './decode-range.ts'

const polygon = builtInChains.find(chain => chain.name === 'polygon')!
const interval = { from: 13_522_175, to: 13_522_230 }

function canonical(): { blocks: RpcBlock[]; logs: RpcLog[] } {
  const kept = canonicalSteps(polygonSteps())
  return { blocks: kept.map(({ block }) => block), logs: kept.flatMap(({ logs }) => logs) }
}

describe('decodeRange on recorded Polygon blocks', () => {
  const decode = (answers: Parameters<typeof decodeRange>[0]['answers']) =>
    decodeRange({ chain: polygon, interval, answers, grain: 'block', bytes: 1 })

  test('gives every transfer of the canonical chain with evidence', () => {
    const result = decode(canonical())
    if (!result.ok) throw new Error(result.failure.message)
    // No root holds the log of the state-sync transaction in block 13,522,176.
    expect(result.range.evidence).toBe('one-endpoint')
    expect(result.range.doubt?.reason).toMatch(/^block 13522176: no root proves/)
    expect(result.range.transfers).toHaveLength(63)
    const hot = hotBlocksOf(result.range)
    expect(hot).toHaveLength(56)
    expect(hot.flatMap(block => block.transfers)).toEqual(result.range.transfers)
    expect(joinActivity(hot.map(block => block.activity))).toEqual(result.range.activity)
    for (const block of hot) expect(block.transfers.every(row => row.block === block.number)).toBe(true)
  })

  test('proves by bloom what has no state-sync log', () => {
    const { blocks, logs } = canonical()
    const later = { from: 13_522_177, to: 13_522_230 }
    const answers = { blocks: blocks.slice(2), logs: logs.filter(log => Number(log.blockNumber) >= later.from) }
    const result = decodeRange({ chain: polygon, senderSample: 20, interval: later, answers, grain: 'block', bytes: 1 })
    expect(result.ok && result.range.evidence).toBe('bloom')
  })

  test('refuses what is proven and cannot be read', () => {
    const { blocks, logs } = canonical()
    const later = { from: 13_522_177, to: 13_522_191 }
    const own = logs.filter(log => Number(log.blockNumber) >= later.from && Number(log.blockNumber) <= later.to)
    // The bloom holds no data.
    const at = own.findIndex(log => log.topics[0] === topics.transferSingle)
    const spoilt = own.with(at, { ...own[at]!, data: own[at]!.data.replace(/.$/, 'z') })
    const decoded = (given: readonly RpcLog[]) =>
      decodeRange({
        chain: polygon,
        interval: later,
        answers: { blocks: blocks.slice(2, 17), logs: given },
        grain: 'block',
        bytes: 1,
      })
    expect(decoded(own).ok).toBe(true)
    expect(decoded(spoilt)).toMatchObject({ ok: false, failure: { check: 'unreadable' } })
  })

  test('refuses logs that are removed, unplaced or repeated', () => {
    const { blocks, logs } = canonical()
    const changed = (change: object): RpcLog[] => logs.with(7, { ...logs[7]!, ...change })
    const wrong = [changed({ removed: true }), changed({ logIndex: null }), [...logs, logs[7]!]]
    for (const given of wrong) {
      const result = decode({ blocks, logs: given })
      expect(result.ok ? undefined : result.failure.check).toBe('log-place')
    }
  })

  test('accepts a state-sync transaction with an index of its own, and no other', () => {
    const { blocks, logs } = canonical()
    const withIndex = (block: RpcBlock, position: number): RpcBlock => {
      const transaction = { ...(block.transactions.at(position) as RpcTransaction), transactionIndex: '0x1f' }
      return { ...block, transactions: [...block.transactions].with(position, transaction) }
    }
    const rows = (answers: typeof blocks) => {
      const result = decode({ blocks: answers, logs })
      return result.ok ? result.range.transfers : result.failure.check
    }
    expect(rows(blocks.with(1, withIndex(blocks[1]!, -1)))).toEqual(rows(blocks))
    expect(rows(blocks.with(1, withIndex(blocks[1]!, -2)))).toBe('transactions')
    expect(rows(blocks.with(5, withIndex(blocks[5]!, -1)))).toBe('transactions')
  })

  test('merging by block and merging by range find the same first and last transactions', () => {
    const byBlock = decode(canonical())
    const byRange = decodeRange({ chain: polygon, interval, answers: canonical(), grain: 'range', bytes: 1 })
    if (!byBlock.ok || !byRange.ok) throw new Error('not decoded')
    expect(mergePacked(byBlock.range.activity)).toEqual(mergePacked(byRange.range.activity))
  })

  test('notices every single dropped log that stands before the last of its block', () => {
    const { blocks, logs } = canonical()
    const stateSync = blocks[1]!.transactions.at(-1) as { hash: string }
    let noticed = 0
    for (const block of blocks) {
      const number = Number(block.number)
      const own = logs.filter(log => log.blockHash === block.hash)
      const proven = own.filter(log => log.transactionHash !== stateSync.hash)
      for (const dropped of proven.slice(0, -1)) {
        const answers = { blocks: [block], logs: own.filter(log => log !== dropped) }
        const alone = { from: number, to: number }
        expect(decodeRange({ chain: polygon, interval: alone, answers, grain: 'range', bytes: 1 }).ok).toBe(false)
        noticed++
      }
    }
    expect(noticed).toBeGreaterThan(1_000)
  })

  test('refuses the orphaned block in the middle of the chain', () => {
    const { blocks, logs } = canonical()
    const orphaned = polygonSteps().find(({ block }) => block.hash === polygonOrphan)!
    const mixed = blocks.map(block => (block.number === orphaned.block.number ? orphaned.block : block))
    const result = decode({ blocks: mixed, logs })
    expect(result.ok ? undefined : result.failure.check).toBe('links')
  })

  test('refuses missing blocks and logs of other blocks', () => {
    const { blocks, logs } = canonical()
    expect(decode({ blocks: [...blocks.slice(0, -1), null], logs }).ok).toBe(false)
    expect(decode({ blocks, logs: null }).ok).toBe(false)
    expect(decode({ blocks, logs: [...logs, { ...logs[0]!, blockNumber: '0x1' }] }).ok).toBe(false)
  })
})
