// What commands take from the command line: the options made from the table of settings, and parsers for arguments. A
// parser that refuses says what is accepted.
import { type Command, Option } from 'commander'
import { cleanLabel } from '../annotate/label-text.ts'
import { reservedSources } from '../annotate/shown-facts.ts'
import { type Chain, type ChainTable, nearestChain } from '../chains.ts'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { allLeaves, flagOf, variableOf } from '../config/overrides.ts'
import type { ChainSettings } from '../config/settings.ts'
import { AlmanacError } from '../errors.ts'
import { type Address, type Interval, parseAddress } from '../model.ts'
import { commandLine } from './current-process.ts'
import { printNote } from './terminal.ts'

const flagLeaves = allLeaves.filter(leaf => leaf.flag === true)

/**
 * Completes a command that needs the configuration: adds its options, and gives `run` what they load. Prints the
 * warnings; a command that calls `loadConfigFor` itself shows them in its own way.
 */
export function withConfig<Parameters extends unknown[]>(
  command: Command,
  settings: readonly string[] | undefined,
  run: (loaded: LoadedConfig, ...parameters: Parameters) => Promise<void> | void,
  abouts?: Readonly<Record<string, string>>,
): Command {
  return addConfigOptions(command, settings, abouts).action((...parameters) => {
    const loaded = loadConfigFor(command)
    printWarnings(loaded)
    return run(loaded, ...(parameters as unknown as Parameters))
  })
}

/**
 * Adds `--config` and a flag for each setting that has one; `only` keeps those of the named settings. `abouts` are for
 * commands to which a setting means something else.
 */
export function addConfigOptions(
  command: Command,
  only?: readonly string[],
  abouts: Readonly<Record<string, string>> = {},
): Command {
  command.option('-c, --config <file>', 'Configuration file. Default: ./almanac.yaml if it exists. (ALMANAC_CONFIG)')
  for (const leaf of flagLeaves) {
    if (only !== undefined && !only.includes(leaf.path.join('.'))) continue
    const value = leaf.kind === 'boolean' ? '' : ' <value>'
    const about = `${(abouts[leaf.path.join('.')] ?? leaf.about).replaceAll('`', '')} (${variableOf(leaf.path)})`
    command.addOption(new Option(`${flagOf(leaf.path)}${value}`, about))
  }
  return tellMissing(command, () => loadConfigFor(command))
}

/** Says what a command needs, with an example: Commander would name no more than the first word that is missing. */
export function tellMissing(command: Command, load: () => LoadedConfig): Command {
  const fail = (missing: string): never => {
    const words = [
      ...command.registeredArguments.filter(({ required }) => required).map(argument => `<${argument.name()}>`),
      ...command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags),
    ]
    const names: string[] = []
    for (let part: Command | null = command; part !== null; part = part.parent) names.unshift(part.name())
    const called = names.slice(1).join(' ')
    const { configured, usual } = load().chains
    const { name: chain } = configured[0] ?? usual
    // An address in the place of the chain is the contract, and the chain is what is missing.
    const address = command.args.find(each => words[0] === '<chain>' && parseAddress(each) !== undefined)
    const example = words
      .join(' ')
      .replace(/<chain>|(?<=--chain )<name>/, chain)
      .replaceAll(/<(contract|address)>/g, address ?? '0x…')
      .replaceAll(/<(.*?)>/g, (_, word: string) => word.toUpperCase())
    const needs = `${called} needs ${words.join(', ').replace(/, (?=[^,]*$)/, ' and ')}`
    const listed = example.includes(chain) && configured.length > 0 ? ` Configured chains: ${namesOf(configured)}.` : ''
    throw new AlmanacError(
      'bad_request',
      `${needs}${words.length === 1 ? '' : `: no ${address === undefined ? missing : 'chain'} is given`}.${listed}`,
      {
        hint: `for example: ${commandLine} ${called} ${example}`,
      },
    )
  }
  return Object.assign(command, {
    missingArgument: fail,
    missingMandatoryOptionValue: ({ long }: Option) => fail(long!),
  })
}

export function printWarnings({ warnings }: LoadedConfig): void {
  for (const { text } of warnings) printNote(`Warning: ${text}`)
}

/** `file` is read if no configuration is given. */
export function loadConfigFor(command: Command, file?: string): LoadedConfig {
  const options = command.opts<Record<string, string | boolean | undefined>>()
  const flags = new Map<string, string | boolean>()
  for (const leaf of flagLeaves) {
    const given = options[new Option(flagOf(leaf.path)).attributeName()]
    if (given !== undefined) flags.set(leaf.path.join('.'), given)
  }
  return loadConfig({ file: (options.config as string | undefined) ?? file, environment: process.env, flags })
}

export type ChosenChain = { name: string; settings: ChainSettings }

/** A configured chain, by any name that requests may use; without a text, the only one. */
export function chooseChain({ config, chains }: LoadedConfig, given: string | undefined): ChosenChain {
  const configured = Object.keys(config.chains)
  const text = given ?? (configured.length === 1 ? configured[0]! : '')
  const name = chains.parse(text)?.name
  const settings = name === undefined ? undefined : config.chains[name]
  if (name !== undefined && settings !== undefined) return { name, settings }
  if (given === undefined && configured.length > 0)
    throw new AlmanacError('bad_request', '--chain is needed, as several chains are configured.', {
      hint: `configured chains: ${configured.join(', ')}.`,
    })
  const lacking =
    given === undefined ? 'No chain is configured.' : `The chain ${JSON.stringify(text)} is not configured.`
  throw new AlmanacError('not_configured', lacking, {
    hint:
      configured.length === 0
        ? `write a configuration with \`${commandLine} init\`, or name yours with --config.`
        : `${suggestion(text, configured)}configured chains: ${configured.join(', ')}.`,
  })
}

/** Any known chain, configured or not. */
export function parseChain(chains: ChainTable, text: string): Chain {
  const chain = chains.parse(text)
  if (chain !== undefined) return chain
  const names = chains.all.map(({ name }) => name)
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is not a known chain.`, {
    hint: `${suggestion(text, names)}${chainsListed(chains)}.`,
  })
}

/** For hints: the configured chains, or all known ones where none is. */
function chainsListed({ configured, all }: ChainTable): string {
  return configured.length === 0 ? `known chains: ${namesOf(all)}` : `configured chains: ${namesOf(configured)}`
}

function namesOf(chains: readonly Chain[]): string {
  return chains.map(({ name }) => name).join(', ')
}

export function parseChainIf(chains: ChainTable, text: string | undefined): Chain | undefined {
  return text === undefined ? undefined : parseChain(chains, text)
}

function suggestion(text: string, names: readonly string[]): string {
  const nearest = nearestChain(text, names)
  return nearest === undefined ? '' : `did you mean ${nearest}? `
}

export function parseBlocks({ from, to }: Interval): Interval {
  if (from <= to) return { from, to }
  throw new AlmanacError('bad_request', `--from ${from} is above --to ${to}.`, {
    hint: 'pass the lower block as --from; both ends are included.',
  })
}

/** Makes the parser of an option. */
export function wholeNumber(flag: string, min = 0): (text: string) => number {
  return text => {
    if (/^\d{1,12}$/.test(text) && Number(text) >= min) return Number(text)
    throw new AlmanacError('bad_request', `${flag} is ${JSON.stringify(text)}.`, {
      hint: `pass a whole number, at least ${min}.`,
    })
  }
}

/** The contracts of `--contract`, which a chain indexed in full has no use for. */
export function chosenContracts(
  { name, settings }: { name: string; settings: Pick<ChosenChain['settings'], 'index'> },
  text: string | undefined,
): Address[] | undefined {
  if (text === undefined || settings.index !== 'full') return text === undefined ? undefined : parseContracts(text)
  throw new AlmanacError('bad_request', `--contract does not fit ${name}, which is indexed in full.`, {
    hint: 'leave --contract out: every contract is included.',
  })
}

export function parseContracts(text: string): Address[] {
  return text.split(',').map(requireAddress)
}

export function requireAddress(text: string): Address {
  const address = parseAddress(text.trim())
  if (address !== undefined) return address
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is not an address.`, {
    hint: 'pass 0x and 40 hex digits.',
  })
}

/** Refuses a name that would have to be cleaned. */
export function requireName(what: string, text: string): string {
  const cleaned = cleanLabel(text)
  if ('label' in cleaned && cleaned.notes.length === 0) return cleaned.label
  const reason = 'problem' in cleaned ? cleaned.problem : `it would have to be changed: ${cleaned.notes.join(', ')}`
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} cannot be ${what}. (${reason})`, {
    hint: 'pass 1 to 200 visible characters on one line.',
  })
}

/** The name of an imported list. */
export function requireSource(text: string): string {
  const source = requireName('the name of a source', text)
  if (!reservedSources.has(source)) return source
  throw new AlmanacError('bad_request', `The source name ${JSON.stringify(source)} is reserved.`, {
    hint: 'name the list after where it comes from.',
  })
}
