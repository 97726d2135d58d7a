// Checks the configuration and shows the settings in force with secrets hidden. It opens and starts nothing.
import { Command } from 'commander'
import { stringify } from 'yaml'
import type { LoadedConfig } from '../config/load.ts'
import { shownConfig } from '../config/problems.ts'
import { withConfig } from './options.ts'
import { printData, printJson, printNote } from './terminal.ts'

export function configCommand(): Command {
  const command = new Command('check')
    .description('Check file, environment and flags, and print the settings in force with secrets hidden.')
    .option('--json', 'Print the settings as JSON.')
  return new Command('config')
    .description('Check the configuration.')
    .addCommand(withConfig(command, undefined, checkConfig))
}

function checkConfig({ config, file }: LoadedConfig, { json }: { json?: true }): void {
  printNote(file === undefined ? 'No file was read.' : `${file} is valid.`)
  if (json) printJson(shownConfig(config))
  else printData(stringify(shownConfig(config)))
}
