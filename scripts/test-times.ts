// Runs all tests and tells the longest suites: seconds, processor seconds, and what they started and waited for. It
// keeps the order in which `npm test` begins them, longest first, in test/longest.json.
// Run: npm run test:times -- [words of file names]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processorSeconds } from '../test/processor-seconds.ts'
import type { SuiteTimes } from '../test/suite-times.ts'

/** Suites that take less than this begin in any order. */
const longSeconds = 8
const shown = 30

const root = fileURLToPath(new URL('..', import.meta.url))
const words = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'almanac-times-'))
const beganMs = performance.now()
try {
  const { status } = spawnSync('vitest', ['run', '--reporter=dot', ...words], {
    cwd: root,
    env: { ...process.env, ALMANAC_TESTS_TIMES: folder },
    stdio: 'inherit',
  })
  const suites = readdirSync(folder)
    .map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')) as SuiteTimes)
    .sort((one, other) => other.seconds - one.seconds)
  const sum = (value: (suite: SuiteTimes) => number): number => suites.reduce((total, suite) => total + value(suite), 0)
  for (const suite of suites.slice(0, shown)) process.stdout.write(`${lineOf(suite)}\n`)
  // What ended suites leave to others is in the whole alone: the browser that they share, and Vitest itself.
  const whole = processorSeconds('self')
  process.stdout.write(
    `${suites.length} suites: ${Math.round((performance.now() - beganMs) / 1_000)} s by the clock, ` +
      `${Math.round(sum(({ seconds }) => seconds))} s one after the other, ${Math.round(whole)} s of the processor, ` +
      `of it ${Math.round(sum(({ cpuSeconds }) => cpuSeconds))} s in suites\n`,
  )
  if (words.length === 0 && status === 0) {
    const longest = suites.filter(({ seconds }) => seconds >= longSeconds).map(({ suite }) => relative(root, suite))
    writeFileSync(join(root, 'test/longest.json'), `${JSON.stringify(longest, null, 2)}\n`)
  }
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true })
}

function lineOf({ suite, seconds, cpuSeconds, started }: SuiteTimes): string {
  const processes = Object.entries(started)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${count} ${name}`)
  const [clock, processor] = [seconds, cpuSeconds].map(value => `${value.toFixed(1)} s`.padStart(8))
  return `${relative(root, suite).padEnd(44)}${clock}${processor} of the processor  ${processes.join(', ')}`
}
