// Exported files must be files of history to the last byte: the check of folders reads and proves them whole.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkFolder } from '../../src/tools/history/check-folder.ts'
import { BeaconChain } from '../history-proofs.ts'
import { SimChain } from './chain.ts'
import { type ExportOptions, exportChain } from './export-files.ts'
import { expectedTransfers } from './truth.ts'

const hoodi = 560_048
const chain = new SimChain({
  ...{ seed: 5, chainId: hoodi, height: 150, hashes: 'real', signed: true, mergedAt: 70 },
  ...{ types: [0, 1, 2, 3, 4], transactionsPerBlock: 5, emptyEvery: 7, denseEvery: 40 },
})
const beacon = new BeaconChain(Array.from({ length: 151 }, (_, number) => chain.hashOf(number)))
const signal = new AbortController().signal
/** Block 0 is not that of the network. */
const interval = { from: 1, to: 150 }

function exported(options: Partial<ExportOptions>): { folder: string; files: ReturnType<typeof exportChain> } {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-export-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { folder, files: exportChain(chain, interval, { folder, format: 'ere', network: 'hoodi', ...options }) }
}

test.each<[string, Partial<ExportOptions>]>([
  ['era1', { format: 'era1' }],
  ['ere', {}],
  ['ere with difficulties', { difficulties: true }],
  ['ere with proofs', { beacon }],
  ['ere with all that it may have', { beacon, difficulties: true }],
])('%s passes the check whole, in files of 64 blocks', async (_, options) => {
  const { folder, files } = exported({ blocksPerFile: 64, ...options })
  expect(files.map(({ from, to }) => [from, to])).toEqual([
    [1, 63],
    [64, 127],
    [128, 150],
  ])
  const roots = options.beacon === undefined ? {} : { historicalSummaries: beacon.summaries }
  const report = await checkFolder(folder, { roots, signal })
  expect(report).toMatchObject({ gaps: [], passedOver: [] })
  for (const [at, { file, problem, proven, checked, holds }] of report.files.entries()) {
    const { name, from, to } = files[at]!
    expect({ file, problem }).toEqual({ file: name, problem: undefined })
    expect(name).toMatch(
      options.format === 'era1' ? /^hoodi-0000\d-[\da-f]{8}\.era1$/ : /^hoodi-0000\d-[\da-f]{8}(-.*)?\.ere$/,
    )
    const hasDifficulties = options.format === 'era1' || options.difficulties === true
    expect(holds).toMatchObject({ proofs: roots.historicalSummaries !== undefined, difficulties: hasDifficulties })
    expect(proven).toEqual(options.beacon === undefined ? [] : [{ from, to, by: 'historical-summaries' }])
    const blocks = Array.from({ length: to - from + 1 }, (_, index) => chain.block(from + index))
    const transactions = blocks.flatMap(block => block.transactions)
    expect(checked).toMatchObject({
      ...{ blocks: blocks.length, transactions: transactions.length, lastHash: chain.hashOf(to) },
      logs: transactions.reduce((sum, { logs }) => sum + logs.length, 0),
      transfers: expectedTransfers(chain, { from, to }).length,
    })
    expect(new Set(transactions.map(({ type }) => type)).size).toBe(5)
  }
})

test('files of another seed are proven by no summaries but their own', async () => {
  const { folder } = exported({ beacon })
  const others = new BeaconChain(Array.from({ length: 151 }, (_, number) => chain.hashOf(150 - number)))
  const wrong = await checkFolder(folder, { roots: { historicalSummaries: others.summaries }, signal })
  expect(wrong.files[0]).toMatchObject({ proven: [], problem: { block: 1, message: expect.stringContaining('root') } })
})

test('files without receipts say so in their names', async () => {
  const { folder, files } = exported({ receipts: false })
  expect(files[0]!.name).toMatch(/-noproofs-noreceipts\.ere$/)
  const { files: reports } = await checkFolder(folder, { roots: {}, signal })
  expect(reports[0]!.problem?.message).toContain('has no receipts')
})
