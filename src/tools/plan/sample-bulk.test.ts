// What history from files is estimated to cost, against what the files really hold.
import { mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { SimChain } from '../../../test/sim/chain.ts'
import { exportChain } from '../../../test/sim/export-files.ts'
import { expectedTransfers } from '../../../test/sim/truth.ts'
import { defineChain } from '../../chains.ts'
import { fileSource } from '../../evm/files/file-source.ts'
import { SourceLost } from '../../evm/source/bulk-source.ts'
import { inlineDecoder } from '../../evm/source/decode-pool.ts'
import { createLog } from '../../log.ts'
import { BlockRow } from './block-row.ts'
import { estimateBulk } from './sample-bulk.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-sample-'))
afterAll(() => rmSync(folder, { recursive: true }))
const signal = new AbortController().signal
const sim = new SimChain({
  seed: 9,
  chainId: 1_337,
  height: 160,
  hashes: 'real',
  signed: true,
  transactionsPerBlock: 3,
})
const chain = defineChain({ name: 'sim', id: 1_337 })
exportChain(sim, { from: 1, to: 59 }, { folder, format: 'era1', blocksPerFile: 30 })
exportChain(sim, { from: 90, to: 159 }, { folder, format: 'ere', blocksPerFile: 30 })

async function openedSource(paths = [folder]) {
  const source = fileSource({
    chain,
    paths,
    decoder: inlineDecoder,
    log: createLog({ level: 'silent', format: 'json' }),
  })
  await source.look(signal)
  return source
}

test('places of several intervals are counted as one row', () => {
  const row = new BlockRow([
    { from: 100, to: 103 },
    { from: 5, to: 6 },
    { from: 7, to: 6 },
  ])
  expect(row.count).toBe(6)
  expect(row.at({ from: 0, to: 5 })).toEqual([
    { from: 5, to: 6 },
    { from: 100, to: 103 },
  ])
  expect(row.at({ from: 1, to: 2 })).toEqual([
    { from: 6, to: 6 },
    { from: 100, to: 100 },
  ])
  expect(row.at({ from: 5, to: 5 })).toEqual([{ from: 103, to: 103 }])
  expect(row.strata(4)).toEqual([
    { from: 0, to: 0 },
    { from: 1, to: 2 },
    { from: 3, to: 3 },
    { from: 4, to: 5 },
  ])
})

test('a history that fits into the samples is read whole, and nothing is guessed', async () => {
  const source = await openedSource()
  expect(source.holds).toEqual([
    { from: 1, to: 59 },
    { from: 90, to: 159 },
  ])
  const estimate = await estimateBulk({ source, intervals: source.holds, scope: 'full', samples: 16 }, signal)
  const transfers = source.holds.flatMap(interval => expectedTransfers(sim, interval))
  const blocks = source.holds.flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, at) => sim.block(from + at)),
  )
  const transactions = blocks.flatMap(block => block.transactions)
  expect(estimate).toMatchObject({
    ...{ blocks: 129, blocksSampled: 129, calls: 0, seconds: 0, transfers: transfers.length },
    ...{ transactions: transactions.length, logs: transactions.reduce((sum, { logs }) => sum + logs.length, 0) },
  })
  expect(estimate.addresses).toBeGreaterThan(new Set(transactions.map(({ from }) => from)).size / 2)
  const withoutWallets = await estimateBulk(
    { source, intervals: source.holds, scope: 'transfers', samples: 16 },
    signal,
  )
  expect(withoutWallets).toMatchObject({ transfers: transfers.length, addresses: 0 })
  await source.close()
})

test('samples stand for the rest', async () => {
  const source = await openedSource()
  const { holds } = source
  const real = await estimateBulk({ source, intervals: holds, scope: 'transfers', samples: 16 }, signal)
  const told: string[] = []
  const onSample = (done: number, of: number) => void told.push(`${done} of ${of}`)
  const sampled = await estimateBulk({ source, intervals: holds, scope: 'transfers', samples: 4, onSample }, signal)
  expect(told).toEqual(['1 of 4', '2 of 4', '3 of 4', '4 of 4'])
  expect(sampled.blocksSampled).toBeLessThan(129)
  for (const name of ['bytes', 'transactions', 'logs', 'transfers'] as const) {
    expect(sampled[name] / real[name]).toBeGreaterThan(0.6)
    expect(sampled[name] / real[name]).toBeLessThan(1.7)
  }
  await source.close()
})

test('a file that is cut after it was looked at is lost', async () => {
  const paths = [join(folder, 'cut')]
  const [file] = exportChain(sim, { from: 1, to: 9 }, { folder: paths[0]!, format: 'ere' })
  const source = await openedSource(paths)
  expect(source.holds).toEqual([{ from: 1, to: 9 }])
  truncateSync(file!.path, 4_000)
  const estimated = estimateBulk({ source, intervals: source.holds, scope: 'transfers', samples: 2 }, signal)
  await expect(estimated).rejects.toThrow(SourceLost)
  await source.look(signal)
  expect(source.holds).toEqual([])
  await source.close()
})
