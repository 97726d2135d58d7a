// The command that copies the file of a running service. How a server is backed up is the server's own business.
import { resolve } from 'node:path'
import { Command } from 'commander'
import { addConfigOptions, loadConfigFor } from './config-options.ts'
import { bytesText } from './quantities.ts'
import { printData, printJson } from './terminal.ts'

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
