// The command that checks the configuration and shows what is in force, with secrets hidden. It opens and starts nothing.
import { Command } from 'commander'
import { stringify } from 'yaml'
import { shownConfig } from '../config/problems.ts'
import { addConfigOptions, loadConfigFor } from './options.ts'
import { printData, printJson, printNote } from './terminal.ts'

export function configCommand(): Command {
  const check = new Command('check')
    .description('Check file, environment and flags, and print the settings in force with secrets hidden.')
    .option('--json', 'Print them as JSON.')
  addConfigOptions(check).action((options: { json?: true }) => {
    const { config, file, warnings } = loadConfigFor(check)
    for (const warning of warnings) printNote(`Warning: ${warning}`)
    printNote(file === undefined ? 'No file was read.' : `${file} is right.`)
    if (options.json) printJson(shownConfig(config))
    else printData(stringify(shownConfig(config)))
  })
  return new Command('config').description('Look at the configuration.').addCommand(check)
}
