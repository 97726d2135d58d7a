// Checks the configuration and shows the settings in force with secrets hidden, and has running services read theirs
// again. It starts nothing.
import { readdirSync, statSync } from 'node:fs'
import { Command } from 'commander'
import { stringify } from 'yaml'
import type { LoadedConfig } from '../config/load.ts'
import { shownConfig } from '../config/problems.ts'
import { AlmanacError, messageOf } from '../errors.ts'
import { isUrl } from '../evm/files/beacon-roots.ts'
import { isHistoryFile } from '../evm/files/history-file.ts'
import { type Report, silentMsMax } from '../processes/heartbeat.ts'
import { processTopic, RemoteWork, type WorkOutcome } from '../processes/remote-work.ts'
import type { Store } from '../store/store.ts'
import { commandLine } from './current-process.ts'
import { summaryLines } from './init/summary.ts'
import { withStore } from './open-store.ts'
import { withConfig } from './options.ts'
import { printData, printJson, printNote } from './terminal.ts'

export function configCommand(): Command {
  const command = new Command('check')
    .summary('Check the configuration.')
    .description(
      'Check file, environment and flags, and print chains, store and address in a few lines, with secrets hidden.',
    )
    .option('--all', 'Print every setting in force, with its default where it is not set.')
    .option('--json', 'Print every setting in force as JSON.')
  const reload = new Command('reload')
    .summary('Reload the configuration of running services.')
    .description(
      'Reload the configuration in every process that indexes into the store, as SIGHUP does for one. Endpoints, their limits and the backfill settings change without a restart; the command lists settings that need one. An invalid configuration changes nothing.',
    )
    .option('--json', 'Print the result as JSON.')
  return new Command('config')
    .description('Check or reload the configuration.')
    .addCommand(withConfig(command, undefined, checkConfig))
    .addCommand(withStore(reload, reloadConfig))
}

/** Where several run, others may have taken theirs. */
function ofSome(error: AlmanacError, processes: number): AlmanacError {
  const { code, cause, hint, retryable } = error
  const whose = processes === 1 ? '' : `One of ${processes} processes at least did not reload. `
  return new AlmanacError(code, `${whose}${error.message}`, { cause, retryable, ...(hint && { hint }) })
}

const reloadWaitMs = 10_000

async function reloadConfig(store: Store, _: LoadedConfig, { json }: { json?: true }): Promise<void> {
  const beats = await store.heartbeats()
  const running = beats.filter(({ process, ageMs, report }) => {
    const { topics } = JSON.parse(report) as Report
    return ageMs < silentMsMax && topics.includes(processTopic(process))
  })
  if (running.length === 0)
    throw new AlmanacError('not_found', 'No process that indexes from a configuration file runs on this store.', {
      hint: 'start one. A process with --only api reads its configuration again at SIGHUP; the sandbox has none to read.',
    })
  const remote = new RemoteWork(store)
  const results = await Promise.all(running.map(({ process }) => remote.ask({ kind: 'reload', process }, reloadWaitMs)))
  const failed = results.find(result => result === undefined || 'error' in result)
  if (failed !== undefined && 'error' in failed) throw ofSome(failed.error, running.length)
  if (results.includes(undefined))
    throw new AlmanacError('timeout', `A process did not answer within ${reloadWaitMs / 1_000} s.`, { retryable: true })
  const outcomes = results.map(result => (result as WorkOutcome).reload ?? { applied: [], needRestart: [] })
  const applied = [...new Set(outcomes.flatMap(outcome => outcome.applied))]
  const needRestart = [...new Set(outcomes.flatMap(outcome => outcome.needRestart))]
  if (json) return printJson({ processes: running.length, applied, need_restart: needRestart })
  const processes = running.length === 1 ? '1 process' : `${running.length} processes`
  printData(`${processes} reloaded: ${applied.length === 0 ? 'nothing to apply' : applied.join(', ')}.`)
  if (needRestart.length > 0) printData(`Needs a restart: ${needRestart.join(', ')}.`)
}

function checkConfig({ config, file, unconfigured }: LoadedConfig, { all, json }: { all?: true; json?: true }): void {
  if (unconfigured) printNote('Nothing is configured here: these are the defaults.')
  else printNote(file === undefined ? 'No file was read.' : `${file} is valid.`)
  for (const note of missingFiles(config)) printNote(note)
  if (json) printJson(shownConfig(config))
  else if (all) printData(stringify(shownConfig(config)))
  else {
    printData(summaryLines(config).join('\n'))
    printNote(`\nEvery setting: ${commandLine} config check --all`)
  }
  if (unconfigured) printNote(`Try:   ${commandLine} init for your own nodes, or ${commandLine} start for the sandbox.`)
}

/** A setting that names a missing path is valid: a disk may be mounted later, and files may come while it runs. */
function missingFiles({ chains }: Pick<LoadedConfig['config'], 'chains'>): string[] {
  return Object.entries(chains).flatMap(([name, { history = [], historySummaries = [] }]) => [
    ...history.flatMap(path => noteOf(`chains.${name}.history`, path, problemOf(path, true))),
    ...historySummaries
      .filter(place => !isUrl(place))
      .flatMap(path => noteOf(`chains.${name}.history_summaries`, path, problemOf(path, false))),
  ])
}

function noteOf(setting: string, path: string, problem: string | undefined): string[] {
  return problem === undefined ? [] : [`Note: ${setting} names ${path}, which ${problem}.`]
}

function problemOf(path: string, mayBeFolder: boolean): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return 'does not exist'
    if (!mayBeFolder || !stats.isDirectory()) return stats.isFile() ? undefined : 'is not a regular file'
    return readdirSync(path).some(isHistoryFile) ? undefined : 'has no file that ends in .era1, .ere or .erae'
  } catch (error) {
    return `cannot be read (${messageOf(error)})`
  }
}
