import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readHeader } from '../src/evm/files/file-block.ts'
import { runHere } from './command-here.ts'
import { writeEre } from './history-writer.ts'
import { mainnetBeaconRoots, mainnetBlocks } from './recordings.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-history-'))
afterAll(() => rmSync(folder, { recursive: true }))
const put = (name: string, bytes: Uint8Array): void => writeFileSync(join(folder, name), bytes)

test('history check says what each file is and proves, and ends with 1 where one cannot be used', async () => {
  const recorded = mainnetBlocks()
  const numberOf = (at: number): number => readHeader(recorded[at]!.header).number
  put('mainnet-01802-720704f3.ere', writeEre(numberOf(0), [recorded[0]!]))
  put('mainnet-01896-55b11b91.ere', writeEre(numberOf(1), [recorded[1]!]))
  put('mainnet-02371-f8e2f40d.ere', writeEre(numberOf(8), [recorded[8]!]))
  put('summaries.ssz', mainnetBeaconRoots().historicalSummaries)
  const sound = await runHere(['history', 'check', '.', '--summaries', 'summaries.ssz', '--json'], folder)
  expect(sound.code).toBe(0)
  const report = JSON.parse(sound.stdout)
  expect(report).toMatchObject({ ok: true, passed_over: [] })
  expect(report.files.map((file: { proven: unknown }) => file.proven)).toEqual([
    [{ from: 14_764_013, to: 14_764_013, by: 'accumulator' }],
    [{ from: 15_537_393, to: 15_537_393, by: 'accumulator' }],
    [{ from: 19_426_587, to: 19_426_587, by: 'historical-summaries' }],
  ])
  expect(report.files[0]).toMatchObject({
    ...{ file: 'mainnet-01802-720704f3.ere', network: 'mainnet', format: 'ere', whole: false },
    ...{ receipts: true, difficulties: false, proofs: true, problem: null, unproven: null },
    checked: { blocks: 1, transactions: 19, logs: 28, transfers: 0 },
  })
  expect(report.gaps[0]).toEqual({ network: 'mainnet', from: 14_764_014, to: 15_537_392 })
  const altered = writeEre(numberOf(1), [{ ...recorded[1]!, receipts: recorded[0]!.receipts }])
  put('mainnet-01896-55b11b91.ere', altered)
  const broken = await runHere(['history', 'check', folder], folder)
  expect(broken.code).toBe(1)
  expect(broken.stdout).toMatch(/^mainnet-01802-720704f3.ere +mainnet +ere +14764013-14764013 +no +yes +yes /m)
  expect(broken.stdout).toMatch(/^mainnet-01896-55b11b91.ere: block 15537393 has 1 transactions and 19 receipts\.$/m)
  expect(broken.stdout).toMatch(/^mainnet-02371-f8e2f40d.ere: not proven canonical: .*historical_summaries/m)
  expect(broken.stdout).toMatch(/1 of 3 files cannot be used\.$/m)
})

test('history check names a folder without files, and roots that are none', async () => {
  const empty = mkdtempSync(join(folder, 'empty-'))
  const nothing = await runHere(['history', 'check', empty], folder)
  expect(nothing).toMatchObject({ code: 1, stderr: expect.stringContaining('has no history files') })
  put('text.ssz', Buffer.from('no roots'))
  const wrong = await runHere(['history', 'check', folder, '--roots', 'text.ssz'], folder)
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('text.ssz is not a list of roots') })
})
