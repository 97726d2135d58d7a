// Runs seeds of faults, reorganisations and kills on both engines, in parts that can be stopped and gone on with:
//
//   npm run soak:faults -- --seeds 500 --minutes 55
//
// The state file says which seeds passed and which failed; a seed that was under way when it stopped runs again. Ends
// with exit code 1 where a seed has failed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

type State = { first: number; seeds: number; next: number; passed: number; failed: string[] }
type TestOutcome = { ancestorTitles: string[]; title: string; status: string; failureMessages: string[] }
type VitestReport = {
  testResults: { assertionResults: TestOutcome[] }[]
}

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    first: { type: 'string', default: '1' },
    /** No part begins after this time. */
    minutes: { type: 'string', default: '55' },
    state: { type: 'string', default: 'soak-faults.json' },
  },
})
const seedsPerPart = 10
const endAtMs = performance.now() + Number(options.minutes) * 60_000
const state = readState()
while (state.next < state.first + state.seeds && performance.now() < endAtMs) {
  const count = Math.min(seedsPerPart, state.first + state.seeds - state.next)
  runPart(state.next, count)
  state.next += count
  writeState()
  say(`${state.next - state.first} of ${state.seeds} seeds, ${state.passed} runs passed, ${named(state.failed)}`)
}
const left = state.first + state.seeds - state.next
if (left > 0) say(`${left} seeds are left: run the same command again.`)
say(`${state.passed} passed, ${state.failed.length} failed`)
process.exitCode = state.failed.length > 0 ? 1 : 0

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function runPart(first: number, count: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-soak-'))
  const file = join(folder, 'report.json')
  // Both engines, as before a release.
  const engines = { ALMANAC_TESTS_RELEASE: '1' }
  const environment = { ...engines, ALMANAC_FAULT_FIRST: `${first}`, ALMANAC_FAULT_RUNS: `${count}` }
  const command = ['vitest', 'run', 'test/evm-faults.test.ts', '--reporter=json', `--outputFile=${file}`]
  const { status } = spawnSync('npx', command, { env: { ...process.env, ...environment }, stdio: 'inherit' })
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport
    for (const outcome of report.testResults.flatMap(result => result.assertionResults)) {
      const { ancestorTitles, title, status, failureMessages } = outcome
      if (!title.startsWith('with seed')) continue
      if (status === 'passed') state.passed++
      else {
        state.failed.push(`${ancestorTitles.at(-1)}, ${title}`)
        say([`${ancestorTitles.at(-1)}, ${title}:`, ...failureMessages].join('\n'))
      }
    }
  } catch (error) {
    throw new Error(`Seeds ${first} to ${first + count - 1} ended with ${status} and left no report.`, { cause: error })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readState(): State {
  const asked = { first: Number(options.first), seeds: Number(options.seeds) }
  try {
    const known = JSON.parse(readFileSync(options.state, 'utf8')) as State
    if (known.first === asked.first && known.seeds === asked.seeds) return known
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return { ...asked, next: asked.first, passed: 0, failed: [] }
}

function writeState(): void {
  writeFileSync(`${options.state}.new`, `${JSON.stringify(state, null, 2)}\n`)
  renameSync(`${options.state}.new`, options.state)
}

function named(failed: readonly string[]): string {
  return failed.length === 0 ? 'none failed' : `failed: ${failed.join('; ')}`
}
