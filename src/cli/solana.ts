// Fills the index of a Solana network from a snapshot archive of a validator. It needs the store for itself.

import { stat } from 'node:fs/promises'
import { Command, Option } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { durationText } from '../duration-text.ts'
import { AlmanacError } from '../errors.ts'
import { type SolanaNetwork, solanaNetworks } from '../model.ts'
import { type ImportProgress, importSnapshot } from '../solana/snapshot.ts'
import { openStore } from '../store/open.ts'
import { interruption } from './current-process.ts'
import { withConfig } from './options.ts'
import { countText, ProgressLine, percentText, printJson, printNote } from './terminal.ts'

export function solanaCommand(): Command {
  const command = new Command('import')
    .description('Import a snapshot archive of a validator: a full one first, then incremental ones.')
    .argument('<archive>', 'snapshot-<slot>-<hash>.tar.zst or incremental-snapshot-<base>-<slot>-<hash>.tar.zst')
    .addOption(
      new Option('--network <name>', 'Network of the snapshot.').choices([...solanaNetworks]).makeOptionMandatory(),
    )
    .option('--json', 'Print the result as JSON.')
  return new Command('solana')
    .description('Import a Solana snapshot.')
    .addCommand(withConfig(command, ['store'], importArchive))
}

type ImportFlags = { network: SolanaNetwork; json?: true }

async function importArchive({ config }: LoadedConfig, archive: string, { network, json }: ImportFlags): Promise<void> {
  if (!(await stat(archive).catch(() => undefined))?.isFile())
    throw new AlmanacError('bad_request', `The file ${archive} does not exist.`, { hint: 'name a snapshot archive.' })
  const signal = interruption()
  await using opened = new AsyncDisposableStack()
  const store = await openStore(config.store, { role: 'owner' })
  opened.defer(() => store.close())
  const line = new ProgressLine()
  opened.defer(() => line.close())
  const result = await importSnapshot({ store, network, path: archive, onProgress: showImport(line), signal })
  line.close()
  if (json) printJson(result)
  else printNote(`Imported ${network} at slot ${result.slot}: ${described(result)}.`)
}

function showImport(line: ProgressLine): (progress: ImportProgress) => void {
  const startedAt = performance.now()
  return progress => {
    const { bytesRead, bytesTotal, holdings, mints, skipped } = progress
    const seconds = (performance.now() - startedAt) / 1_000
    const left = bytesRead === 0 ? '' : `, ${durationText((seconds / bytesRead) * (bytesTotal - bytesRead))} left`
    line.offer(
      () =>
        `${percentText(bytesRead, bytesTotal)}, ${described(progress)}, ${countText((holdings + mints + skipped) / seconds)} accounts/s${left}`,
    )
  }
}

function described({ holdings, mints, skipped }: ImportProgress): string {
  return `${holdings} token accounts, ${mints} mints and metadata, ${skipped} others skipped`
}
