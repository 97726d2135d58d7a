import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { packTransfer } from '../../test/pack-transfer.ts'
import { propertyRuns } from '../../test/release-runs.ts'
import { type Hash, type Position, zeroAddress } from '../model.ts'
import type { TransferPage } from '../store/index-reader.ts'
import { type AnswerRows, answerRows, isSameLog, positionOf } from './answer-rows.ts'

type Stored = Position & { idCount: number }

function pageOf(rows: readonly Stored[]): TransferPage {
  const hash = `0x${'0'.repeat(64)}` as Hash
  return {
    length: rows.length,
    blocks: rows.map(row => row.block),
    transactionIndexes: rows.map(row => row.transactionIndex),
    logIndexes: rows.map(row => row.logIndex),
    batchIndexes: rows.map(row => row.batchIndex),
    timestamps: rows.map(() => 0),
    blockHashes: new Uint8Array(32 * rows.length),
    payloads: Buffer.concat(
      rows.map(({ idCount }) =>
        packTransfer({
          standard: 'ERC721',
          batch: false,
          from: zeroAddress,
          to: zeroAddress,
          operator: undefined,
          tokenId: 0n,
          amount: 1n,
          value: 0n,
          transactionHash: hash,
          idCount,
        }),
      ),
    ),
  }
}

const order = (a: Position, b: Position) =>
  a.block - b.block || a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex || a.batchIndex - b.batchIndex

/** The answered rows as positions, in the order of the answer. */
function shown({ stored, length, runs }: AnswerRows): Position[] {
  if (runs === undefined) return Array.from({ length }, (_, row) => positionOf(stored, row))
  return runs.flatMap(run =>
    Array.from({ length: run.count }, (_, index) => {
      const position = positionOf(stored, run.row)
      return { ...position, batchIndex: position.batchIndex + run.firstId + index * run.step }
    }),
  )
}

// A log is one row, a batch of rows or one range.
const logs = fc.uniqueArray(
  fc.record({
    block: fc.nat(2),
    transactionIndex: fc.nat(2),
    logIndex: fc.nat(2),
    batch: fc.integer({ min: 1, max: 4 }),
    idCount: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 9 })),
  }),
  { selector: ({ block, transactionIndex, logIndex }) => `${block} ${transactionIndex} ${logIndex}` },
)

describe('rows of pages', () => {
  test('show every row once, in order, whatever the page size', () => {
    fc.assert(
      fc.property(
        logs,
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom('asc' as const, 'desc' as const),
        (given, limit, direction) => {
          const sign = direction === 'asc' ? 1 : -1
          const stored: Stored[] = given
            .flatMap(({ batch, ...log }) =>
              log.idCount > 1
                ? [{ ...log, batchIndex: 0 }]
                : Array.from({ length: batch }, (_, batchIndex) => ({ ...log, batchIndex })),
            )
            .sort((a, b) => sign * order(a, b))
          const expected = stored
            .flatMap(({ idCount, ...row }) =>
              Array.from({ length: idCount }, (_, index) => ({ ...row, batchIndex: row.batchIndex + index })),
            )
            .sort((a, b) => sign * order(a, b))
          const seen: Position[] = []
          let after: Position | undefined
          let within = false
          for (let pages = 0; pages < 1_000; pages++) {
            // As the store answers, with the range that an ascending run stands in taken again.
            const from: Position | undefined = within && direction === 'asc' ? { ...after!, batchIndex: -1 } : after
            const beyond = stored.filter(row => from === undefined || sign * order(row, from) > 0).slice(0, limit + 1)
            const rows = answerRows(pageOf(beyond), { order: direction, limit, after })
            expect(rows.length).toBeLessThanOrEqual(limit)
            expect(shown(rows)).toHaveLength(rows.length)
            expect(rows.last).toEqual(shown(rows).at(-1))
            seen.push(...shown(rows))
            if (!rows.more) break
            after = rows.last
            within = rows.withinRange
          }
          const strip = ({ block, transactionIndex, logIndex, batchIndex }: Position) => [
            block,
            transactionIndex,
            logIndex,
            batchIndex,
          ]
          expect(seen.map(strip)).toEqual(expected.map(strip))
        },
      ),
      { numRuns: propertyRuns(500) },
    )
  })

  test('a range of billions costs a page nothing', () => {
    const page = pageOf([{ block: 1, transactionIndex: 0, logIndex: 0, batchIndex: 0, idCount: 4_000_000_000 }])
    const rows = answerRows(page, { order: 'desc', limit: 100, after: undefined })
    expect(rows).toMatchObject({ length: 100, more: true, withinRange: true, last: { batchIndex: 3_999_999_900 } })
    expect(rows.runs).toHaveLength(1)
    expect(isSameLog(rows.last!, positionOf(page, 0))).toBe(true)
  })
})
