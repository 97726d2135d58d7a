// The command that moves a store to another engine. It opens both ends as parts; the copying itself is the store's.

import { resolve } from 'node:path'
import { Command } from 'commander'
import { AlmanacError } from '../errors.ts'
import type { CopyProgress, ReadableName } from '../store/parts.ts'
import { addConfigOptions, loadConfigFor } from './options.ts'
import { commandLine, firstSignal } from './process.ts'
import { bytesText, printData, printJson, printNote, table } from './terminal.ts'
import { openUnlocked } from './with-store.ts'

type CopyFlags = { from: string; to: string; json?: true }

/** A terminal is told often, a log seldom. */
const terminalEveryMs = 200
const logEveryMs = 10_000
const lockedHint = `stop it first. What copies a file beside a running service is ${commandLine} store backup.`

export function storeCommand(): Command {
  return new Command('store')
    .description('Move the store, or copy it for safety.')
    .addCommand(copyCommand())
    .addCommand(backupCommand())
}

function copyCommand(): Command {
  return new Command('copy')
    .description(
      'Copy a store into an empty one of either kind, and compare both to the last row. Stop what writes to them first. Interrupted, the same command goes on where it was.',
    )
    .requiredOption('--from <store>', 'The store to read: file:path or postgres://user@host/database.')
    .requiredOption('--to <store>', 'The empty store to fill. A password may stand in PGPASSWORD instead.')
    .option('--json', 'Print counts and checksums as JSON.')
    .action(async ({ from, to, json }: CopyFlags) => {
      const { openStoreParts } = await import('../store/open.ts')
      const { copyStore } = await import('../store/parts.ts')
      const stop = new AbortController()
      void firstSignal().then(() => stop.abort())
      const open = (store: string) => openUnlocked(() => openStoreParts(store), lockedHint)
      const source = await open(from)
      try {
        const target = await open(to)
        try {
          const onProgress = progressOf(await source.transferRows())
          const parts = await copyStore(source, target, { onProgress, signal: stop.signal })
          if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K')
          if (json) return printJson({ from: source.location, to: target.location, parts })
          const rows = parts.map(({ part, rows, checksum }) => [part, String(rows), checksum])
          printData(table(['PART', 'ROWS', 'CHECKSUM'], rows))
          printNote(`${target.location} holds the same as ${source.location}.`)
        } catch (error) {
          if (!stop.signal.aborted) throw error
          throw new AlmanacError('interrupted', 'The copy was interrupted.', {
            hint: 'run the same command again: it goes on where it was.',
          })
        } finally {
          await target.close()
        }
      } finally {
        await source.close()
      }
    })
}

/** Lines of progress with a rate, and for transfers, which take nearly all of the time, when they will be there. */
function progressOf(transferRows: number): (progress: CopyProgress) => void {
  const terminal = process.stderr.isTTY === true
  let part: ReadableName | undefined
  let partBegan = { atMs: 0, rows: 0 }
  let shownAtMs = performance.now()
  return ({ phase, part: now, rows }) => {
    const atMs = performance.now()
    if (now !== part) partBegan = { atMs, rows }
    part = now
    if (atMs - shownAtMs < (terminal ? terminalEveryMs : logEveryMs)) return
    shownAtMs = atMs
    const perSecond = ((rows - partBegan.rows) * 1000) / (atMs - partBegan.atMs || 1)
    const left =
      phase === 'copy' && now === 'transfers' && perSecond > 0 ? (transferRows - rows) / perSecond : undefined
    const eta = left === undefined ? '' : `, ${Math.max(0, Math.ceil(left))} s left`
    const text = `${phase === 'copy' ? 'Copying' : 'Comparing'} ${now}: ${rows} rows, ${Math.round(perSecond)}/s${eta}`
    process.stderr.write(terminal ? `\r\x1b[2K${text}` : `${text}\n`)
  }
}

// The command that copies the file of a running service. How a server is backed up is the server's own business.

export function backupCommand(): Command {
  const command = new Command('backup')
    .description(
      'Copy the store in a file to another file while the service runs, and check the copy. To restore, stop the service and put the copy in the place of the store.',
    )
    .argument('<file>', 'The file to make; it must not exist yet.')
    .option('--json', 'Print file and size as JSON.')
  return addConfigOptions(command, ['store']).action(async (file: string, { json }: { json?: true }) => {
    const { config } = loadConfigFor(command)
    const { backUpStore } = await import('../store/open.ts')
    const target = resolve(file)
    const { bytes } = await backUpStore(config.store, target)
    if (json) printJson({ file: target, bytes })
    else printData(`${target}: ${bytesText(bytes)}, checked.\n`)
  })
}
