// A short form of `npm run soak:files`, which flips every bit.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { flipped } from './history-flips.ts'
import { smallFiles, WholeFile } from './source-flips.ts'

test('a source gives the same of a file with a flipped bit, or loses it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-flips-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const file of smallFiles(folder)) {
    const whole = new WholeFile(file)
    const known = await whole.range({ from: 10, to: 12 })
    expect(known?.transfers.length, file.what).toBeGreaterThan(3)
    expect(known?.anchor, file.what).toBe(file.summaries === undefined ? undefined : 'canonical')
    for (let bit = 0; bit < 8 * file.bytes.length; bit += 1_499)
      expect(await whole.harmOf(flipped(file.bytes, bit)), `${file.what}, bit ${bit}`).toBeUndefined()
    for (let length = 0; length < file.bytes.length; length += 701)
      expect(await whole.harmOf(file.bytes.subarray(0, length)), `${file.what}, cut at ${length}`).toBeUndefined()
  }
})
