// Combines file, environment and flags into one checked configuration: flags win over environment, over file, over
// default. It opens nothing but the file.
import { existsSync } from 'node:fs'
import {
  builtInChains,
  type Chain,
  ChainTable,
  defineChain,
  namedChain,
  nearestChain,
  offeredChains,
  parseChainText,
} from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import { nearestWord } from '../nearest-word.ts'
import { allLeaves, type Override, readEnvironment, readFlags, reservedVariables, variableOf } from './overrides.ts'
import { describeIssues, keyMeant, type PlaceOf, type Problem } from './problems.ts'
import { aboutOf, camelCase, keysOf, nameInManual, schemaAt } from './setting.ts'
import { type Config, chainId, settingsSchema } from './settings.ts'
import { readYamlFile, type YamlFile } from './yaml-file.ts'

export type LoadOptions = {
  /** Without a file, `almanac.yaml` in the working directory is read if it exists. */
  file?: string | undefined
  /** What a file would say, in its place. */
  given?: object
  environment?: NodeJS.ProcessEnv
  flags?: ReadonlyMap<string, string | boolean>
}

/** `text` is for people; the log gets the same as a stable event with facts. */
export type ConfigWarning = { text: string; event: string; facts: Record<string, string> }

export type LoadedConfig = {
  config: Config
  chains: ChainTable
  /** The file that was read. */
  file: string | undefined
  /** No file, no store and no chain was given: there is nothing to serve. */
  unconfigured: boolean
  /** Worth a line in the log, but not a reason to stop. */
  warnings: ConfigWarning[]
}

const defaultFile = 'almanac.yaml'

export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const { environment = {}, flags = new Map(), given: content } = options
  const path = content === undefined ? fileOf(options) : undefined
  const yaml = path === undefined ? undefined : readYamlFile(path)
  const fromEnvironment = readEnvironment(environment)
  const overrides = [...fromEnvironment.overrides, ...readFlags(flags)]
  const oldNames: OldName[] = []
  const given = merge(withNewNames(content ?? yaml?.value ?? {}, [], oldNames), overrides)
  const placeOf = placeFinder(yaml, overrides)
  const parsed = settingsSchema.safeParse(given)
  const { names, table, problems } = resolveChains(parsed.success ? parsed.data.chains : chainsIn(given), placeOf)
  problems.push(
    ...oldNames
      .filter(({ isDouble }) => isDouble)
      .map(({ path, old, now }) => ({
        text: `${placeOf(path, 'key')}: ${old} is the old spelling of ${now}, which is given too. Remove ${old}.`,
      })),
  )
  if (!parsed.success) problems.push(...describeIssues(parsed.error.issues, given, placeOf))
  if (!parsed.success || problems.length > 0) throw invalid(problems)
  const chains = Object.fromEntries(
    Object.entries(parsed.data.chains).map(([key, settings]) => [names.get(key)!, settings]),
  )
  return {
    config: { ...parsed.data, chains },
    chains: table,
    file: path,
    unconfigured: yaml === undefined && !overrides.some(({ path }) => ['store', 'chains', 'solana'].includes(path[0]!)),
    warnings: [
      ...oldNames.map(({ path, old, now }) => renamedSetting({ place: placeOf(path, 'key'), old, new: now })),
      ...fromEnvironment.unknown.map(unknownVariable),
    ],
  }
}

function fileOf({ file, environment = {} }: LoadOptions): string | undefined {
  return file ?? (environment.ALMANAC_CONFIG || undefined) ?? (existsSync(defaultFile) ? defaultFile : undefined)
}

type OldName = { path: readonly string[]; old: string; now: string; isDouble: boolean }

/** Renames settings in camelCase, and notes each in `found`. */
function withNewNames(given: unknown, section: readonly string[], found: OldName[]): unknown {
  const schema = schemaAt(settingsSchema, section)
  if (!isMap(given) || schema === undefined || aboutOf(schema) !== undefined) return given
  const newNames = new Map(keysOf(schema).map(key => [camelCase(key), key]))
  const renamed = Object.entries(given).map(([key, value]) => {
    const name = newNames.get(key) ?? key
    const [path, newPath] = [
      [...section, key],
      [...section, name],
    ]
    const isDouble = Object.hasOwn(given, name)
    if (name !== key) found.push({ path, old: path.join('.'), now: newPath.join('.'), isDouble })
    return [name, withNewNames(value, newPath, found)]
  })
  return Object.fromEntries(renamed)
}

/** Lays overrides over what the file holds. A section that is not a map stays as it is: the schema refuses it. */
function merge(base: unknown, overrides: readonly Override[]): unknown {
  if (!isMap(base)) return base
  const merged = structuredClone(base)
  for (const { path, value } of overrides) {
    let section: Record<string, unknown> = merged
    for (const part of path.slice(0, -1)) {
      // A chain may be called as what every object inherits.
      const next = (Object.hasOwn(section, part) ? section[part] : undefined) ?? {}
      if (!isMap(next)) return merged
      section[part] = next
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
    // The last one wins, as in the merge. A missing setting is reported at the start of its section.
    const override = overrides.findLast(covers) ?? (isIn(yaml?.value, path) ? undefined : overrides.findLast(under))
    return override?.source ?? yaml?.placeOf(path, part) ?? 'configuration'
  }
}

/** In either spelling. */
function isIn(value: unknown, [part, ...rest]: readonly PropertyKey[]): boolean {
  if (part === undefined) return value !== undefined
  if (!isMap(value)) return false
  const name = [String(part), camelCase(String(part))].find(each => Object.hasOwn(value, each))
  return name !== undefined && isIn(value[name], rest)
}

type GivenChain = { id?: number | undefined; index?: unknown; views?: unknown; history?: unknown; portal?: unknown }

/** As far as they can be read of a configuration that has other errors. */
function chainsIn(given: unknown): Record<string, GivenChain> {
  const chains = isMap(given) && isMap(given.chains) ? given.chains : {}
  const read = ([key, settings]: [string, unknown]): [string, GivenChain] => {
    const named = isMap(settings) ? settings : {}
    const { index = 'on-demand', views, history, portal } = named
    // A chain whose id is misspelt has one.
    const id = named[Object.keys(named).find(name => keyMeant(['chains', key], name) === 'id') ?? 'id']
    return [key, { id: chainId.safeParse(id).data, index, views, history, portal }]
  }
  return Object.fromEntries(Object.entries(chains).map(read))
}

/** The file may name a chain in any way that requests may; inside, each has one name. */
function resolveChains(given: Readonly<Record<string, GivenChain>>, placeOf: PlaceOf) {
  /** By the key in the file. */
  const names = new Map<string, string>()
  const added: Chain[] = []
  const problems: Problem[] = []
  for (const [key, { id, index, views, history, portal }] of Object.entries(given)) {
    const place = placeOf(['chains', key], 'key')
    const found = findChain(key, id, added)
    if ('text' in found) problems.push({ ...found, text: `${place}: ${found.text}` })
    else if ([...names.values()].includes(found.name))
      problems.push({ text: `${place}: chains.${key} is ${found.name}, which is configured already.` })
    else {
      names.set(key, found.name)
      if (!builtInChains.includes(found)) added.push(found)
    }
    if (index === 'on-demand' && Array.isArray(views) && views.includes('erc20'))
      problems.push({
        text: `${place}: chains.${key}.views has erc20, which keeps every token of a chain that is indexed in full. Set chains.${key}.index to full, or remove erc20: tokens are then indexed when they are requested.`,
        path: ['chains', key, 'index'],
      })
    if (index === 'on-demand' && (history ?? portal) !== undefined)
      problems.push({
        text: `${place}: chains.${key} has files or a portal, which give whole blocks, and index: on-demand asks nodes for contracts. Set chains.${key}.index to full, or remove history and portal.`,
        path: ['chains', key, 'index'],
      })
  }
  return { names, table: new ChainTable(added, [...names.values()]), problems }
}

/** The chain that a key of the file means, or what is wrong with it. */
function findChain(key: string, id: number | undefined, added: readonly Chain[]): Chain | Problem {
  const meant = parseChainText(key)
  const known = namedChain(key)
  const expected = known?.id ?? ('id' in meant ? meant.id : undefined)
  const path = ['chains', key, 'id']
  if (expected !== undefined && id !== undefined && id !== expected)
    return { text: `chains.${key}.id is ${id}, but ${known?.name ?? key} has the id ${expected}.`, path }
  if (known !== undefined) return known
  if ('id' in meant) return defineChain({ name: String(meant.id), id: meant.id })
  if (id === undefined) {
    const names = offeredChains.map(chain => chain.name)
    const text = `${key} is not a known chain. To add a chain, set chains.${key}.id.`
    return { text, meant: nearestChain(key, names), path }
  }
  const same = [...builtInChains, ...added].find(chain => chain.id === id)
  if (same !== undefined) return { text: `chains.${key}.id is ${id}, which is the id of ${same.name}.`, path }
  if (!/^[a-z][a-z0-9 _-]{0,31}$/.test(key))
    return {
      text: `${JSON.stringify(key)} is not a valid chain name; accepted: a letter, then a-z, 0-9, space, _ and -.`,
    }
  // An operator may call a chain of the table by another name.
  return { ...(namedChain(String(id)) ?? defineChain({ name: key, id })), name: key }
}

function invalid(found: readonly Problem[]): AlmanacError {
  // Several rules may refuse one value in the same words.
  const problems = [...new Map(found.map(problem => [problem.text, problem])).values()].sort(byLine)
  const [only] = problems
  if (problems.length === 1)
    return new AlmanacError('config_invalid', only!.text, {
      hint: only!.meant === undefined ? settingsHint(only!.path) : `did you mean ${only!.meant}?`,
    })
  const lines = problems.map(({ text, meant }) => (meant === undefined ? text : `${text} Did you mean ${meant}?`))
  const message = [`The configuration has ${problems.length} errors.`, ...lines].join('\n       ')
  return new AlmanacError('config_invalid', message, { hint: settingsHint() })
}

/** The folder of a user has no docs. The letters of a part's name make its anchor. */
function settingsHint(path: readonly PropertyKey[] = []): string {
  const leaf = allLeaves.find(({ path: own }) => own.every((part, at) => part.startsWith('<') || part === path[at]))
  const anchor = leaf === undefined ? '' : `#${nameInManual(leaf.path).replaceAll(/[<>.]/g, '')}`
  return `see docs/settings.md${anchor} of the Almanac repository, or /docs/settings.html${anchor} of a running service.`
}

/** In the order of the file; what does not stand in it comes after. */
function byLine(a: Problem, b: Problem): number {
  const [first, second] = [a, b].map(({ text }) => /^\S.*?:(\d+):(\d+): /.exec(text))
  if (first == null || second == null) return Number(first == null) - Number(second == null)
  return Number(first[1]) - Number(second[1]) || Number(first[2]) - Number(second[2])
}

function renamedSetting(facts: { place: string; old: string; new: string }): ConfigWarning {
  const text = `${facts.place}: ${facts.old} is now spelled ${facts.new}. The old spelling works until 1.0.`
  return { text, event: 'Setting renamed', facts }
}

function unknownVariable(variable: string): ConfigWarning {
  const nearest = nearestWord(variable, [...reservedVariables, ...allLeaves.map(leaf => variableOf(leaf.path))])
  const text = `The environment variable ${variable} is not a setting and was ignored.`
  const event = 'Environment variable ignored'
  if (nearest === undefined) return { text, event, facts: { variable } }
  return { text: `${text} Did you mean ${nearest}?`, event, facts: { variable, nearest } }
}
