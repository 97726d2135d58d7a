// The command that fills the index of a Solana network from a snapshot archive of a validator. It needs the store for itself.
import { stat } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { AlmanacError } from '../errors.ts'
import { type SolanaNetwork, solanaNetworks } from '../model.ts'
import { type ImportProgress, importSnapshot } from '../solana/snapshot.ts'
import { openStore } from '../store/open.ts'
import { addConfigOptions, loadConfigFor } from './options.ts'
import { firstSignal } from './process.ts'
import { printJson, printNote } from './terminal.ts'

const noteEveryMs = process.stderr.isTTY === true ? 500 : 10_000

export function solanaCommand(): Command {
  return new Command('solana').description('Fill the index of a Solana network.').addCommand(importCommand())
}

function importCommand(): Command {
  const command = new Command('import')
    .description('Import a snapshot archive of a validator: a full one first, then incremental ones.')
    .argument('<archive>', 'snapshot-<slot>-<hash>.tar.zst or incremental-snapshot-<base>-<slot>-<hash>.tar.zst')
    .addOption(
      new Option('--network <name>', 'The network that the snapshot is of.')
        .choices([...solanaNetworks])
        .makeOptionMandatory(),
    )
    .option('--json', 'Print the result as JSON.')
  addConfigOptions(command, ['store']).action(
    async (archive: string, { network, json }: { network: SolanaNetwork; json?: true }) => {
      await requireFile(archive)
      const stop = new AbortController()
      void firstSignal().then(() => stop.abort())
      const store = await openStore(loadConfigFor(command).config.store, { role: 'owner' })
      try {
        const onProgress = progressNotes()
        const result = await importSnapshot({ store, network, path: archive, onProgress, signal: stop.signal })
        if (json) printJson(result)
        else printNote(`Imported ${network} at slot ${result.slot}: ${described(result)}.`)
      } finally {
        await store.close()
      }
    },
  )
  return command
}

async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile()) return
  throw new AlmanacError('bad_request', `There is no file ${path}.`, { hint: 'name the archive of a snapshot.' })
}

function progressNotes(): (progress: ImportProgress) => void {
  const startedAt = performance.now()
  let notedAt = startedAt
  return progress => {
    const now = performance.now()
    if (now - notedAt < noteEveryMs) return
    notedAt = now
    const share = progress.bytesTotal === 0 ? 1 : progress.bytesRead / progress.bytesTotal
    const seconds = (now - startedAt) / 1_000
    const rate = Math.round((progress.holdings + progress.mints + progress.skipped) / seconds)
    const left = share === 0 ? 0 : Math.round((seconds / share) * (1 - share))
    printNote(`${(share * 100).toFixed(1)} %, ${described(progress)}, ${rate} accounts/s, ${left} s left`)
  }
}

function described({ holdings, mints, skipped }: ImportProgress): string {
  return `${holdings} token accounts, ${mints} mints and metadata, ${skipped} others passed over`
}
