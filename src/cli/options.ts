// The options that every command with a configuration takes, made from the table of settings.
import { type Command, Option } from 'commander'
import { cleanLabel } from '../annotate/label-text.ts'
import { reservedSources } from '../annotate/shown-facts.ts'
import type { Chain, ChainTable } from '../chains.ts'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { allLeaves, flagOf, variableOf } from '../config/overrides.ts'
import { nearestWord } from '../config/problems.ts'
import type { ChainSettings } from '../config/settings.ts'
import { AlmanacError } from '../errors.ts'
import { type Address, type Interval, parseAddress } from '../model.ts'

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

// What commands on one chain take from the command line: the chain, contracts, and a range of blocks. Every slip is told with what is accepted.

export type ChosenChain = { name: string; settings: ChainSettings }

/** A configured chain by any name that requests may use. */
export function chooseChain({ config, chains }: LoadedConfig, text: string): ChosenChain {
  const name = chains.parse(text)?.name
  const settings = name === undefined ? undefined : config.chains[name]
  if (name !== undefined && settings !== undefined) return { name, settings }
  const configured = Object.keys(config.chains)
  const nearest = nearestWord(text, configured)
  throw new AlmanacError('not_configured', `The chain ${JSON.stringify(text)} is not configured.`, {
    hint:
      configured.length === 0
        ? 'add it under chains in the configuration; no chain is there yet.'
        : `${nearest === undefined ? '' : `did you mean ${nearest}? `}configured are: ${configured.join(', ')}.`,
  })
}

export function parseBlocks({ from, to }: { from: string; to: string }): Interval {
  const interval = { from: parseWhole('--from', from), to: parseWhole('--to', to) }
  if (interval.from <= interval.to) return interval
  throw new AlmanacError('bad_request', `--from ${from} is above --to ${to}.`, {
    hint: 'give the lower block as --from; both ends belong to the range.',
  })
}

export function parseWhole(flag: string, text: string, min = 0): number {
  if (/^\d{1,12}$/.test(text) && Number(text) >= min) return Number(text)
  throw new AlmanacError('bad_request', `${flag} is ${JSON.stringify(text)}.`, {
    hint: `give a whole number from ${min} on.`,
  })
}

export function parseContracts(text: string): Address[] {
  return text.split(',').map(part => {
    const contract = parseAddress(part.trim())
    if (contract !== undefined) return contract
    throw new AlmanacError('bad_request', `--contract has ${JSON.stringify(part)}, which is no address.`, {
      hint: 'give 0x and 40 hex digits, and a comma between several.',
    })
  })
}

// What the commands on labels and collections take from the command line. Every slip is told with what is accepted.

/** Any chain of the table, configured or not. */
export function parseChain(chains: ChainTable, text: string): Chain {
  const chain = chains.parse(text)
  if (chain !== undefined) return chain
  const names = chains.all.map(({ name }) => name)
  const nearest = nearestWord(text, names)
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is no chain.`, {
    hint: `${nearest === undefined ? '' : `did you mean ${nearest}? `}known are: ${names.join(', ')}.`,
  })
}

export function parseChainIf(chains: ChainTable, text: string | undefined): Chain | undefined {
  return text === undefined ? undefined : parseChain(chains, text)
}

export function requireAddress(text: string): Address {
  const address = parseAddress(text.trim())
  if (address !== undefined) return address
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is no address.`, {
    hint: 'give 0x and 40 hex digits.',
  })
}

/** A name as it is given on the command line must be fit as it is. */
export function requireName(what: string, text: string): string {
  const cleaned = cleanLabel(text)
  if ('label' in cleaned && cleaned.notes.length === 0) return cleaned.label
  const reason = 'problem' in cleaned ? cleaned.problem : `it would have to be changed: ${cleaned.notes.join(', ')}`
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} cannot be ${what}. (${reason})`, {
    hint: 'give 1 to 200 visible characters on one line.',
  })
}

/** The name of a list of others. */
export function requireSource(text: string): string {
  const source = requireName('the name of a source', text)
  if (!reservedSources.has(source)) return source
  throw new AlmanacError('bad_request', `The source ${JSON.stringify(source)} is Almanac's own.`, {
    hint: 'give the list a name of its own, such as where it comes from.',
  })
}
