// Holdings as a view that follows from transfers: a sum of changes and the newest place, whatever is committed, taken
// back, merged, switched on later and filled meanwhile.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ModelStore } from '../../../../test/model-store.ts'
import { StepRunner, steps } from '../../../../test/store-steps.ts'
import { zeroAddress } from '../../../model.ts'
import { transferKey } from '../../runs/transfer-view.ts'
import type { DerivedView, StoredTransfer } from '../../runs/view.ts'
import { unpackTransfer } from '../../transfer-payload.ts'
import { Connection } from '../connection.ts'
import { ownerWriteOptions } from '../open-file.ts'
import { openSqliteStore } from '../sqlite-store.ts'
import { coldTransfersAfter } from './cold-transfers.ts'
import { derivedFrom, derivedValue, fillStep, forgetView, isFilled, keepView } from './derived.ts'
import { mergeStep } from './merges.ts'

/** Key: wallet, contract, token. Value: the amount, which may be below zero while history is filled, and the place. */
const holdings: DerivedView = {
  id: 201,
  name: 'holdings',
  keyBytes: 20 + 4 + 32,
  byContract: false,
  combine(target, a, aLength, b, bLength) {
    const [left, right] = [holdingOf(a.subarray(0, aLength)), holdingOf(b.subarray(0, bLength))]
    const value = packedHolding({ amount: left.amount + right.amount, newest: [left.newest, right.newest].sort()[1]! })
    target.set(value)
    return value.length
  },
  recordsOf(transfer, add) {
    const { from, to, tokenId, amount } = unpackTransfer(transfer.payload)
    const newest = [transfer.block, transfer.transactionIndex, transfer.logIndex, transfer.batchIndex]
      .map(number => number.toString(16).padStart(8, '0'))
      .join('')
    const change = (wallet: string, by: bigint): void => {
      if (wallet === zeroAddress) return
      const contract = transfer.contract.toString(16).padStart(8, '0')
      const key = `${wallet.slice(2)}${contract}${BigInt.asUintN(256, tokenId).toString(16).padStart(64, '0')}`
      add(Buffer.from(key, 'hex'), packedHolding({ amount: by, newest }))
    }
    change(from, -amount)
    change(to, amount)
  },
}

type Holding = { amount: bigint; newest: string }

function packedHolding({ amount, newest }: Holding): Uint8Array {
  return Buffer.from(`${BigInt.asUintN(320, amount).toString(16).padStart(80, '0')}${newest}`, 'hex')
}

function holdingOf(value: Uint8Array): Holding {
  const digits = Buffer.from(value).toString('hex')
  return { amount: BigInt.asIntN(320, BigInt(`0x${digits.slice(0, 80)}`)), newest: digits.slice(80) }
}

/** What transfers add up to, without the store's ways. */
function folded(transfers: Iterable<StoredTransfer>): Map<string, Holding> {
  const all = new Map<string, Holding>()
  for (const transfer of transfers)
    holdings.recordsOf(transfer, (key, value) => {
      const text = Buffer.from(key).toString('hex')
      const [known, change] = [all.get(text), holdingOf(value)]
      all.set(text, {
        amount: (known?.amount ?? 0n) + change.amount,
        newest: known !== undefined && known.newest > change.newest ? known.newest : change.newest,
      })
    })
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const moments = fc.array(
  fc.record({
    at: fc.nat(30),
    what: fc.constantFrom('keep', 'keep', 'fill', 'fill all', 'fill all', 'forget', 'merge'),
  }),
  {
    maxLength: 12,
  },
)

const runs = Number(process.env.ALMANAC_DERIVED_RUNS ?? 15)

test('holdings are what the stored transfers add up to, after every commit', {
  timeout: 20_000 + runs * 1_500,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-derived-'))
  let round = 0
  try {
    await fc.assert(
      fc.asyncProperty(steps, moments, fc.constantFrom(1, 6, 4_096), async (taken, extra, bulkRows) => {
        const path = join(folder, `${round++}.db`)
        const store = await openSqliteStore(path, {
          role: 'owner',
          bulkRows,
          runsPerMerge: 2,
          packsPerStep: 1,
          derivedViews: [holdings],
        })
        const connection = new Connection(path, ownerWriteOptions)
        try {
          const runner = new StepRunner(new ModelStore(), store)
          const kept = new Set<number>()
          for (const [at, step] of taken.entries()) {
            await runner.apply(step)
            for (const { what } of extra.filter(moment => moment.at === at)) act(connection, what, kept)
            for (const chain of kept) expectHoldings(connection, chain)
          }
          for (const chain of kept) {
            while (fillStep({ connection, derivedViews: [holdings], bulkRows: 4 }, holdings, chain, 3));
            expect(isFilled(connection, holdings, chain)).toBe(true)
            expectHoldings(connection, chain)
          }
        } finally {
          connection.close()
          await store.close()
        }
      }),
      { numRuns: runs, endOnFailure: true },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

function act(connection: Connection, what: 'keep' | 'fill' | 'fill all' | 'forget' | 'merge', kept: Set<number>): void {
  const known = connection.all('SELECT ordinal FROM chains').map(([ordinal]) => ordinal as number)
  connection.run('BEGIN')
  for (const chain of known)
    if (what === 'keep') {
      keepView(connection, holdings, chain)
      kept.add(chain)
    } else if (what === 'fill') fillStep({ connection, derivedViews: [holdings], bulkRows: 4 }, holdings, chain, 2)
    else if (what === 'fill all')
      while (fillStep({ connection, derivedViews: [holdings], bulkRows: 4 }, holdings, chain, 5));
    else if (what === 'forget') {
      forgetView(connection, holdings, chain)
      kept.delete(chain)
    }
  if (what === 'merge') mergeStep(connection, 10, [holdings])
  connection.run('COMMIT')
}

/** While the view is filled it is what the transfers up to there add up to. */
function expectHoldings(connection: Connection, chain: number): void {
  const [reached] = connection.get('SELECT reached FROM view_fills WHERE chain = ?', chain) as [Uint8Array | null]
  const stored = [...coldTransfersAfter(connection, undefined, chain)]
  const expected = folded(
    stored.filter(
      ({ contract, ...place }) => reached === null || Buffer.compare(transferKey(contract, place), reached) <= 0,
    ),
  )
  const found = [...derivedFrom(connection, holdings, chain, new Uint8Array(holdings.keyBytes))]
  const listed = found.map(({ key, value }) => [Buffer.from(key).toString('hex'), holdingOf(value)] as const)
  expect(new Map(listed)).toEqual(expected)
  for (const [text, holding] of expected) {
    const value = derivedValue(connection, holdings, chain, Buffer.from(text, 'hex'))
    expect(value && holdingOf(value)).toEqual(holding)
  }
}
