// Flips every bit of small files of history, one at a time, and cuts them at every byte: what would be stored is the
// same, or the file is refused; by the check of files, and as the index meets them through its source.
//
//   npm run soak:files -- [--step 1] [FILE …]
//
// Files that are named are only checked as they are, each whole. Ends with exit code 1 where something passed.

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readHeader } from '../src/evm/files/file-block.ts'
import { checkFile } from '../src/tools/history/check-file.ts'
import { fullReceipts, madeChain } from '../test/history-blocks.ts'
import { flipped, harmOf, storedOf, withFile } from '../test/history-flips.ts'
import { accumulatorOf } from '../test/history-proofs.ts'
import { writeEra1, writeEre } from '../test/history-writer.ts'
import { mainnetBeaconRoots, mainnetBlocks } from '../test/recordings.ts'
import { smallFiles, WholeFile } from '../test/source-flips.ts'

const { values, positionals } = parseArgs({
  options: { step: { type: 'string', default: '1' } },
  allowPositionals: true,
})
const step = Number(values.step)
const signal = new AbortController().signal
const roots = mainnetBeaconRoots()
const [first, second] = mainnetBlocks()
const numberOf = (header: Buffer): number => readHeader(header).number
const difficulty = (ssz: Uint8Array): Uint8Array => ssz.subarray(0, 32)
const early = { ...first!, receipts: fullReceipts(first!), difficulty: difficulty(first!.proof!.ssz) }
const files: [string, Buffer][] = [
  ['a block in ere with its proof', writeEre(numberOf(second!.header), [second!])],
  ['a block in era1', writeEra1(numberOf(first!.header), [early], accumulatorOf([early]))],
  ['blocks without transactions in ere', writeEre(9, madeChain(9, 3))],
]
let failures = 0
for (const path of positionals) {
  const { problem, proven, checked } = await checkFile(path, statSync(path).size, { roots, signal })
  if (problem !== undefined) failures++
  say(`${path}: ${JSON.stringify(problem ?? { proven, checked })}`)
}
for (const [what, bytes] of files) {
  const name = 'mainnet-00001-00000000.ere'
  const proven = await withFile(name, bytes, path => checkFile(path, bytes.length, { roots, signal }))
  const stored = (await withFile(name, bytes, storedOf)) ?? ''
  const whole = { stored, proven: JSON.stringify(proven.proven), roots }
  for (let bit = 0; bit < 8 * bytes.length; bit += step) await tryOne(`${what}, bit ${bit}`, flipped(bytes, bit), whole)
  for (let length = 0; length < bytes.length; length += step)
    await tryOne(`${what}, cut at ${length}`, bytes.subarray(0, length), { ...whole, stored: '' })
  say(`${what}: ${8 * bytes.length} bits and ${bytes.length} cuts tried in steps of ${step}`)

  async function tryOne(trial: string, altered: Uint8Array, expected: typeof whole): Promise<void> {
    blame(trial, await harmOf(name, altered, expected))
  }
}
const folder = mkdtempSync(join(tmpdir(), 'almanac-flips-'))
for (const file of smallFiles(folder)) {
  const { what, bytes } = file
  const whole = new WholeFile(file)
  for (let bit = 0; bit < 8 * bytes.length; bit += step)
    blame(`source, ${what}, bit ${bit}`, await whole.harmOf(flipped(bytes, bit)))
  for (let length = 0; length < bytes.length; length += step)
    blame(`source, ${what}, cut at ${length}`, await whole.harmOf(bytes.subarray(0, length)))
  say(`source, ${what}: ${8 * bytes.length} bits and ${bytes.length} cuts tried in steps of ${step}`)
}
rmSync(folder, { recursive: true })
process.exitCode = failures > 0 ? 1 : 0

function blame(trial: string, harm: string | undefined): void {
  if (harm === undefined) return
  failures++
  say(`${trial}: ${harm}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
