// The numbers that stored rows and released steps rest on.
import { expect, test } from 'vitest'
import { zeroAddress } from '../model.ts'
import { labelRevisionRow, revisionRows, wholeBucket } from './postgres/migrations.ts'
import { bucketBlocks } from './schema.ts'
import { blockKeySpan } from './sqlite/migrations.ts'
import { payloadFlags, payloadHeaderBytes } from './transfer-payload.ts'

// Do not change a number here alone: released steps hold it as a literal, and stored rows were written with it. Append
// a step to both engines that rewrites rows and views, then change the constant and this test.
test('the numbers that version 7 of the schema holds as literals are those of the code', () => {
  expect(payloadFlags).toEqual({
    erc1155: 1,
    batch: 2,
    fromZero: 4,
    toZero: 8,
    operator: 16,
    range: 32,
    sentByRecipient: 64,
    sentByGiver: 128,
    sentByOther: 192,
  })
  expect({ payloadHeaderBytes, bucketBlocks, blockKeySpan }).toEqual({
    payloadHeaderBytes: 4,
    bucketBlocks: 4_096,
    blockKeySpan: 1_099_511_627_776,
  })
  expect({ revisionRows, labelRevisionRow, wholeBucket }).toEqual({
    revisionRows: 64,
    labelRevisionRow: 64,
    wholeBucket: -1,
  })
  expect(zeroAddress).toBe(`0x${'0'.repeat(40)}`)
})
