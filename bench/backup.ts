// How long a backup and a restore of a store file take, and how far the write-ahead log grows while a backup runs
// beside a backfill at full speed.
// Run: npm run bench:backup [-- --shape ethereum --transfers 2000000 --memory 1024]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { issueKey } from '../src/keys/keys.ts'
import type { ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { generateTransfers } from './generate.ts'
import { boundMemory } from './memory-bound.ts'
import { shapeNamed } from './shape.ts'

const { values } = parseArgs({
  options: {
    shape: { type: 'string', default: 'ethereum' },
    transfers: { type: 'string', default: '200000' },
    memory: { type: 'string' },
  },
})
const transfers = Number(values.transfers)
const shape = shapeNamed(values.shape)
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const path = join(directory, 'almanac.db')

const megabytesOf = (file: string): number => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / 1e6
const round = (value: number): number => Number(value.toPrecision(3))

/** Runs a command in a process of its own and gives the seconds that it took. */
async function timed(...parameters: string[]): Promise<number> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [main, 'store', ...parameters, '--store', `file:${path}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`store ${parameters[0]} ended with ${code}`)
  return (performance.now() - startedMs) / 1_000
}

class Stopped extends Error {}

/**
 * Commits until `isDone`, which is asked after each commit: the generator leaves no time for events. Gives the longest
 * that the log became.
 */
async function writingUntil(store: Store, chain: number, isDone: () => boolean) {
  let [committed, logMegabytes] = [0, 0]
  const startedMs = performance.now()
  const onCommit = (commit: { transfers: number }): void => {
    committed += commit.transfers
    logMegabytes = Math.max(logMegabytes, megabytesOf(`${path}-wal`))
    if (isDone()) throw new Stopped()
  }
  const options = { chain: chain as ChainId, transfers: 1e9, shape, activity: true, onCommit }
  await generateTransfers(store, options).catch(error => {
    if (!(error instanceof Stopped)) throw error
  })
  return { seconds: (performance.now() - startedMs) / 1_000, committed, logMegabytes }
}

try {
  console.log(values.memory === undefined ? 'memory is not bounded' : boundMemory(Number(values.memory)))
  const store = await openStore(`file:${path}`, { role: 'owner' })
  await issueKey(store, { name: 'bench', scopes: ['ops'] })
  await generateTransfers(store, { chain: 1 as ChainId, transfers, shape, activity: true })
  const storeMegabytes = megabytesOf(path)
  const [quiet, beside] = ['quiet.db', 'beside.db'].map(name => join(directory, name)) as [string, string]
  const quietSeconds = await timed('backup', quiet)
  const untilMs = performance.now() + 8_000
  const usual = await writingUntil(store, 2, () => performance.now() > untilMs)
  const backup = timed('backup', beside)
  const busy = await writingUntil(store, 3, () => existsSync(beside))
  await backup
  await store.close()
  const backupMegabytes = megabytesOf(quiet)
  const copied = performance.now()
  copyFileSync(quiet, `${quiet}.copy`)
  const copySeconds = (performance.now() - copied) / 1_000
  const restoreSeconds = await timed('restore', quiet, '--discard')
  const result = {
    benchmark: 'backup',
    shape: values.shape,
    transfers,
    storeMegabytes: round(storeMegabytes),
    backupMegabytes: round(backupMegabytes),
    backupSeconds: round(quietSeconds),
    backupMegabytesPerSecond: round(backupMegabytes / quietSeconds),
    besideBackfillSeconds: round(busy.seconds),
    besideBackfillMegabytesPerSecond: round(megabytesOf(beside) / busy.seconds),
    transfersPerSecondWithoutBackup: round(usual.committed / usual.seconds),
    transfersPerSecondBesideBackup: round(busy.committed / busy.seconds),
    logMegabytesWithoutBackup: round(usual.logMegabytes),
    logMegabytesBesideBackup: round(busy.logMegabytes),
    logMegabytesPerSecond: round(busy.logMegabytes / busy.seconds),
    restoreSeconds: round(restoreSeconds),
    restoreMegabytesPerSecond: round(backupMegabytes / restoreSeconds),
    plainCopySeconds: round(copySeconds),
  }
  console.table(result)
  console.log(JSON.stringify(result))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
