// Copies the store to another engine, backs up its file, restores or compacts it. The work itself is the store's.

import { resolve } from 'node:path'
import { Command } from 'commander'
import type { LoadedConfig } from '../../config/load.ts'
import { durationText } from '../../duration-text.ts'
import { AlmanacError } from '../../errors.ts'
import { backUpStore, compactStore, openStoreParts, restoreStore, roomInStore } from '../../store/open.ts'
import type { ReadableName } from '../../store/parts.ts'
import type { NamedKey } from '../../store/sqlite/restore/present-store.ts'
import type { RestoreProgress } from '../../store/sqlite/restore/restore.ts'
import { commandLine, interruption } from '../current-process.ts'
import { openUnlocked } from '../open-store.ts'
import { withConfig } from '../options.ts'
import { sandboxMeant, withSandboxElsewhere } from '../running-server.ts'
import {
  bytesText,
  countText,
  ProgressLine,
  percentText,
  printable,
  printData,
  printJson,
  printNote,
  table,
  whileWaiting,
} from '../terminal.ts'
import { type CopyProgress, copyStore } from './copy.ts'

export function storeCommand(): Command {
  const copyCommand = new Command('copy')
    .summary('Copy a store into an empty one, and compare both.')
    .description(
      'Copy a store into an empty one of either kind, then compare both row by row. Stop what writes to them first. If interrupted, the same command continues where it stopped.',
    )
    .requiredOption('--from <store>', 'Store to read: file:path or postgres://user@host/database.')
    .requiredOption('--to <store>', 'Empty store to fill. PGPASSWORD may hold the password.')
    .option('--json', 'Print counts and checksums as JSON.')
    .action(copy)
  const backupCommand = new Command('backup')
    .summary('Copy a store file while the service runs.')
    .description(
      'Copy a store file to another file while the service runs, and check the copy. `store restore` puts it back.',
    )
    .argument('<file>', 'File to create; it must not exist yet.')
    .option('--json', 'Print file and size as JSON.')
  const restoreCommand = new Command('restore')
    .summary('Put a backup in the place of the store file.')
    .description(
      'Put a backup in the place of the store file, and keep the replaced store beside it. The backup is checked first, and keys that were revoked since stay revoked. Stop the service first. If interrupted, the store is as it was.',
    )
    .argument('<backup>', 'File that `store backup` made.')
    .option(
      '--keys-of-backup',
      'Accept keys that become valid again because the current store is missing, is damaged or does not know them.',
    )
    .option('--discard', 'Remove the replaced store instead of keeping it.')
    .option('--json', 'Print what was restored, and which keys changed, as JSON.')
  const compactCommand = new Command('compact')
    .summary('Free unused disk space in the store.')
    .description(
      'Free unused disk space in the store, for example after almanac forget. A file is rewritten beside itself: stop every process on it first; it needs as much free disk as its rows take. PostgreSQL vacuums its tables while in use.',
    )
    .option('--json', 'Print the size before and after as JSON.')
  return new Command('store')
    .description('Copy, back up, restore or compact the store.')
    .addCommand(copyCommand)
    .addCommand(withConfig(backupCommand, ['store'], backUp))
    .addCommand(withConfig(restoreCommand, ['store'], restore))
    .addCommand(withConfig(compactCommand, ['store'], compact))
}

async function compact(loaded: LoadedConfig, { json }: { json?: true }): Promise<void> {
  const { before, after } = await compactNow(loaded.config.store)
  if (json) printJson({ before, after })
  else printData(compactedText(loaded.config.store, { before, after }))
}

/** Says before what it needs. */
export async function compactNow(url: string): Promise<{ before: number; after: number }> {
  const room = await roomInStore(url)
  if (room !== undefined)
    printNote(
      `Compacting writes ${bytesText(room.usedBytes)} beside the file of ${bytesText(room.bytes)}; the disk has ${bytesText(room.freeBytes)} free.`,
    )
  return await openUnlocked(() => compactStore(url), 'stop every process of Almanac on this file first.')
}

export function compactedText(url: string, { before, after }: { before: number; after: number }): string {
  const sizes = `The store takes ${bytesText(after)}; before it was ${bytesText(before)}.`
  return url.startsWith('file:')
    ? sizes
    : `${sizes} New rows use what is free within it. VACUUM FULL returns that to the disk too: it locks a table, needs as much disk as the table's rows take, and is the server's own command.`
}

async function backUp(loaded: LoadedConfig, file: string, { json }: { json?: true }): Promise<void> {
  const target = resolve(file)
  const store = sandboxMeant(loaded)?.store ?? loaded.config.store
  const { bytes } = await whileWaiting('Copying the store and checking the copy', backUpStore(store, target)).catch(
    error => {
      throw withSandboxElsewhere(error, loaded)
    },
  )
  if (json) printJson({ file: target, bytes })
  else printData(`${target}: ${bytesText(bytes)}, checked.`)
}

type RestoreFlags = { keysOfBackup?: true; discard?: true; json?: true }

async function restore(loaded: LoadedConfig, file: string, flags: RestoreFlags): Promise<void> {
  const { keysOfBackup = false, discard = false, json } = flags
  const line = new ProgressLine()
  const url = sandboxMeant(loaded)?.store ?? loaded.config.store
  const restoring = () => restoreStore(url, resolve(file), { keysOfBackup, discard, onProgress: showRestore(line) })
  const hint = 'stop every process that uses the store, those with --only api too, and run this again.'
  const { store, bytes, kept, keys } = await openUnlocked(restoring, hint).finally(() => line.close())
  if (json) return printJson({ store, bytes, kept: kept ?? null, keys })
  printData(`${store}: ${bytesText(bytes)} restored, checked.`)
  if (kept !== undefined) printData(`The replaced store is kept as ${kept}; remove it when you no longer need it.`)
  const said: [NamedKey[], string][] = [
    [keys.revoked, 'revoked or expired since the backup, and still so'],
    [keys.changed, 'with the scopes, expiry and limits of the replaced store'],
    [keys.returned, 'valid again, as in the backup (revoke those that must not be)'],
    [keys.gone, 'gone, because they were created after the backup (clients need new ones)'],
  ]
  for (const [named, what] of said)
    if (named.length > 0)
      printData(`Keys ${what}: ${named.map(({ id, name }) => `${id} (${printable(name)})`).join(', ')}.`)
}

function showRestore(line: ProgressLine): (progress: RestoreProgress) => void {
  let startedMs = 0
  return progress => {
    const { phase, bytes } = progress
    if (phase === 'begin') {
      startedMs = performance.now()
      printNote(`Restoring needs ${bytesText(bytes)} beside the store; ${bytesText(progress.freeBytes)} is free.`)
    } else if (phase === 'check') line.show(`Checking ${bytesText(bytes)}.`)
    else
      line.offer(() => {
        const { bytesDone } = progress
        const perSecond = (bytesDone * 1_000) / (performance.now() - startedMs)
        const left = durationText((bytes - bytesDone) / perSecond)
        return `Copying: ${percentText(bytesDone, bytes)} of ${bytesText(bytes)}, ${bytesText(perSecond)}/s, ${left} left`
      })
  }
}

async function copy({ from, to, json }: { from: string; to: string; json?: true }): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const signal = interruption()
  const open = async (url: string, mustExist: boolean) => {
    const hint = `stop it first. To copy a file beside a running service, use ${commandLine} store backup.`
    const store = await openUnlocked(() => openStoreParts(url, { mustExist }), hint)
    opened.defer(() => store.close())
    return store
  }
  const source = await open(from, true)
  const target = await open(to, false)
  const line = new ProgressLine()
  opened.defer(() => line.close())
  const onProgress = showCopy(line, await source.transferRows())
  const parts = await copyStore(source, target, { onProgress, signal }).catch(error => {
    if (!signal.aborted) throw error
    throw new AlmanacError('interrupted', 'The copy was interrupted.', {
      hint: 'run the same command again: it continues where it stopped.',
    })
  })
  line.close()
  if (json) return printJson({ from: source.location, to: target.location, parts })
  const rows = parts.map(({ part, rows, checksum }) => [part, String(rows), checksum])
  printData(table(['PART', 'ROWS', 'CHECKSUM'], rows))
  printNote(`${target.location} holds the same as ${source.location}.`)
}

/** Shows a rate, and for transfers, which take nearly all of the time, the time left. */
function showCopy(line: ProgressLine, transferRows: number): (progress: CopyProgress) => void {
  let part: ReadableName | undefined
  let started = { atMs: 0, rows: 0 }
  return ({ phase, part: current, rows }) => {
    const atMs = performance.now()
    if (current !== part) started = { atMs, rows }
    part = current
    const perSecond = ((rows - started.rows) * 1_000) / (atMs - started.atMs || 1)
    const hasEnd = phase === 'copy' && current === 'transfers' && perSecond > 0
    const left = hasEnd ? `, ${durationText(Math.max(0, (transferRows - rows) / perSecond))} left` : ''
    const verb = phase === 'copy' ? 'Copying' : 'Comparing'
    line.offer(() => `${verb} ${current}: ${countText(rows)} rows, ${countText(perSecond)}/s${left}`)
  }
}
