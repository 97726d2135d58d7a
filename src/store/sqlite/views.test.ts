// The views that make the file readable in the sqlite3 shell, against what was packed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { packTransfer } from '../../../test/pack-transfer.ts'
import { type Address, type ChainId, type Hash, type TransferFacts, zeroAddress } from '../../model.ts'
import { openStore } from '../open.ts'
import { noActivity } from '../packed-activity.ts'

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map(array => `0x${Buffer.from(array).toString('hex')}`)
const address = fc.oneof(
  fc.constant(zeroAddress),
  bytes(20).map(hex => hex as Address),
)
const integer = fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, 2n ** 256n - 1n))
const facts: fc.Arbitrary<TransferFacts> = fc.record({
  standard: fc.constantFrom('ERC721' as const, 'ERC1155' as const),
  batch: fc.boolean(),
  from: address,
  to: address,
  operator: fc.option(
    bytes(20).map(hex => hex as Address),
    { nil: undefined },
  ),
  tokenId: integer,
  amount: integer,
  value: integer,
  transactionHash: bytes(32).map(hex => hex as Hash),
  idCount: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 2 ** 32 - 1 })),
  sentBy: fc.constantFrom('recipient' as const, 'giver' as const, 'other' as const),
})

test('readable_transfers, readable_blocks and readable_coverage say what was stored', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-views-'))
  const path = join(directory, 'almanac.db')
  try {
    const store = await openStore(`file:${path}`, { role: 'owner' })
    const contract = `0x${'ab'.repeat(20)}` as Address
    const chain = 0x89 as ChainId
    const made = fc.sample(facts, 300)
    const block = { number: 7, hash: `0x${'0c'.repeat(32)}` as Hash, timestamp: 1_700_000_000 }
    await store.commitCold({
      chain,
      covered: [
        { from: 0, to: 7, evidence: 'bloom', scope: 'full' },
        { from: 0, to: 7, evidence: 'bloom', scope: contract },
      ],
      blocks: [block],
      transfers: made.map((each, logIndex) => {
        const position = { block: 7, transactionIndex: 1, logIndex, batchIndex: 0 }
        return { ...position, contract, payload: packTransfer(each) }
      }),
      activity: noActivity,
    })
    await store.close()
    const raw = new DatabaseSync(path)
    const rows = raw.prepare('SELECT * FROM readable_transfers ORDER BY log').all()
    expect(rows.length).toBe(made.length)
    for (const [index, row] of rows.entries()) {
      const { standard, batch, from, to, operator, tokenId, amount, value, transactionHash, idCount, sentBy } =
        made[index]!
      expect(row).toMatchObject({ chain, contract, block: 7, tx: 1, log: index, pos: 0, temperature: 'cold', standard })
      expect([row.type, row.from_address, row.to_address, row.operator, row.transaction_hash]).toEqual([
        batch ? 'Batch' : 'Single',
        from,
        to,
        operator ?? null,
        transactionHash,
      ])
      expect(row.sent_by).toBe(sentBy)
      const integers = ['token_id', 'amount', 'value', 'id_count'].map(column => BigInt(String(row[column])))
      expect(integers).toEqual([tokenId, amount, value, BigInt(idCount)])
    }
    expect(raw.prepare('SELECT * FROM readable_blocks').all()).toEqual([
      { chain, number: 7, hash: block.hash, time: '2023-11-14 22:13:20', temperature: 'cold' },
    ])
    expect(raw.prepare('SELECT scope FROM readable_coverage ORDER BY scope').all()).toEqual([
      { scope: contract },
      { scope: 'full' },
    ])
    raw.close()
  } finally {
    rmSync(directory, { recursive: true })
  }
})
