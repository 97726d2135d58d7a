// Brings file, environment and flags together into one checked configuration: flags win over environment, over file, over
// default. It opens nothing but the file.
import { existsSync } from 'node:fs'
import { type Chain, ChainTable, chainCommonlyCalled, defineChain, referenceChains } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import { allLeaves, type Override, readEnvironment, readFlags, reservedVariables, variableOf } from './overrides.ts'
import { describeIssue, nearestWord, type PlaceOf } from './problems.ts'
import { type ChainSettings, type Config, settingsSchema } from './settings.ts'
import { readYamlFile, type YamlFile } from './yaml-file.ts'

export type LoadOptions = {
  /** The file that was asked for; without one, `almanac.yaml` in the working directory if it exists. */
  file?: string | undefined
  environment?: NodeJS.ProcessEnv
  flags?: ReadonlyMap<string, string | boolean>
}

export type LoadedConfig = {
  config: Config
  chains: ChainTable
  /** The file that was read. */
  file: string | undefined
  /** Neither a file nor a store nor a chain was named: there is nothing to serve. */
  unconfigured: boolean
  /** Worth a line in the log, but no reason to stop. */
  warnings: string[]
}

const defaultFile = 'almanac.yaml'

export function loadConfig({ file, environment = {}, flags = new Map() }: LoadOptions = {}): LoadedConfig {
  const path = file ?? (environment.ALMANAC_CONFIG || undefined) ?? (existsSync(defaultFile) ? defaultFile : undefined)
  const yaml = path === undefined ? undefined : readYamlFile(path)
  const fromEnvironment = readEnvironment(environment)
  const overrides = [...fromEnvironment.overrides, ...readFlags(flags)]
  const given = merge(yaml?.value ?? {}, overrides)
  const placeOf = placeFinder(yaml, overrides)
  const parsed = settingsSchema.safeParse(given)
  if (!parsed.success) throw invalid(parsed.error.issues.flatMap(issue => describeIssue(issue, given, placeOf)))
  const { chains, table } = resolveChains(parsed.data.chains, placeOf)
  return {
    config: { ...parsed.data, chains },
    chains: table,
    file: path,
    unconfigured: yaml === undefined && !overrides.some(({ path }) => ['store', 'chains', 'solana'].includes(path[0]!)),
    warnings: fromEnvironment.unknown.map(unknownVariable),
  }
}

/** Lays values over what the file holds. A section that is not a map is left alone, for the schema to refuse. */
function merge(base: unknown, overrides: readonly Override[]): unknown {
  if (!isMap(base)) return base
  const merged = structuredClone(base)
  for (const { path, value } of overrides) {
    let section: Record<string, unknown> = merged
    for (const part of path.slice(0, -1)) {
      if (section[part] === undefined || section[part] === null) section[part] = {}
      const next: unknown = section[part]
      if (!isMap(next)) return merged
      section = next
    }
    section[path.at(-1)!] = value
  }
  return merged
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function placeFinder(yaml: YamlFile | undefined, overrides: readonly Override[]): PlaceOf {
  return (path, part) => {
    const covers = (override: Override) => override.path.every((name, depth) => name === path[depth])
    const under = (override: Override) => path.every((name, depth) => name === override.path[depth])
    // The last one wins, as it does in the merge. A missing setting is reported where its section was begun.
    const override = overrides.findLast(covers) ?? (yaml === undefined ? overrides.findLast(under) : undefined)
    return override?.source ?? yaml?.placeOf(path, part) ?? 'configuration'
  }
}

/** Chains may be called by any name that requests may use; inside, each has one name. */
function resolveChains(given: Readonly<Record<string, ChainSettings>>, placeOf: PlaceOf) {
  const builtIn = new ChainTable()
  const chains: Record<string, ChainSettings> = {}
  const added: Chain[] = []
  const problems: string[] = []
  for (const [key, settings] of Object.entries(given)) {
    const place = placeOf(['chains', key], 'key')
    const known = builtIn.parse(key)
    const name = known?.name ?? key
    if (Object.hasOwn(chains, name)) problems.push(`${place}: chains.${key} is ${name} again.`)
    else if (known !== undefined && settings.id !== undefined && settings.id !== known.id) {
      problems.push(`${place}: chains.${key}.id is ${settings.id}, but ${name} has the id ${known.id}.`)
    } else if (known === undefined) problems.push(...addChain(added, { builtIn, place, key, id: settings.id }))
    chains[name] = settings
  }
  if (problems.length > 0) throw invalid(problems)
  return { chains, table: new ChainTable(added) }
}

function addChain(
  added: Chain[],
  { builtIn, place, key, id }: { builtIn: ChainTable; place: string; key: string; id: number | undefined },
): string[] {
  if (id === undefined) {
    const names = referenceChains.map(chain => chain.name)
    const nearest = chainCommonlyCalled(key) ?? nearestWord(key, names)
    const advice = nearest === undefined ? ` Known are ${names.join(', ')}.` : ` Did you mean ${nearest}?`
    return [`${place}: ${key} is none of the known chains.${advice} A chain of your own needs chains.${key}.id.`]
  }
  const same = builtIn.byId(id) ?? added.find(chain => chain.id === id)
  if (same !== undefined) return [`${place}: chains.${key}.id is ${id}, which is the chain ${same.name}.`]
  if (!/^[a-z][a-z0-9 _-]{0,31}$/.test(key)) {
    return [
      `${place}: ${JSON.stringify(key)} is no name for a chain; accepted: a-z, 0-9, space, _ and -, from a letter on.`,
    ]
  }
  added.push(defineChain({ name: key, id }))
  return []
}

function invalid(problems: readonly string[]): AlmanacError {
  const [only] = problems
  const message =
    problems.length === 1 ? only! : [`The configuration has ${problems.length} errors.`, ...problems].join('\n       ')
  return new AlmanacError('config_invalid', message, { hint: 'see docs/settings.md for every setting.' })
}

function unknownVariable(name: string): string {
  const nearest = nearestWord(name, [...reservedVariables, ...allLeaves.map(leaf => variableOf(leaf.path))])
  return `The environment variable ${name} is no setting and was ignored.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`
}
