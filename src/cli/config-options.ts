// The options that every command with a configuration takes, made from the table of settings.
import { type Command, Option } from 'commander'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { allLeaves, flagOf, variableOf } from '../config/overrides.ts'

const flagLeaves = allLeaves.filter(leaf => leaf.flag === true)

/** Adds `--config` and a flag for each setting that has one; `only` keeps those of the named settings. */
export function addConfigOptions(command: Command, only?: readonly string[]): Command {
  command.option(
    '-c, --config <file>',
    'The configuration; without it ./almanac.yaml is read if it is there. (ALMANAC_CONFIG)',
  )
  for (const leaf of flagLeaves) {
    if (only !== undefined && !only.includes(leaf.path.join('.'))) continue
    const value = leaf.kind === 'boolean' ? '' : ' <value>'
    const about = `${leaf.about.replaceAll('`', '')} (${variableOf(leaf.path)})`
    command.addOption(new Option(`${flagOf(leaf.path)}${value}`, about))
  }
  return command
}

/** `file` stands in for a configuration that is not given. */
export function loadConfigFor(command: Command, file?: string): LoadedConfig {
  const options = command.opts<Record<string, string | boolean | undefined>>()
  const flags = new Map<string, string | boolean>()
  for (const leaf of flagLeaves) {
    const given = options[new Option(flagOf(leaf.path)).attributeName()]
    if (given !== undefined) flags.set(leaf.path.join('.'), given)
  }
  return loadConfig({ file: (options.config as string | undefined) ?? file, environment: process.env, flags })
}
