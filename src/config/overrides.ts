// Settings from the environment and from flags. Their names are derived from the table of settings, so every setting has
// an environment variable; a text becomes a number, flag or list where the setting wants one.
import { referenceChains } from '../chains.ts'
import { type SettingLeaf, settingLeaves } from './setting.ts'
import { settingsSchema } from './settings.ts'

/** A value that did not come from the file, and how its giver calls it. */
export type Override = { path: readonly string[]; value: unknown; source: string }

const prefix = 'ALMANAC_'
/** Variables that are not settings: the operator's key, the file's place, and where `status` asks. */
export const reservedVariables = ['ALMANAC_KEY', 'ALMANAC_CONFIG', 'ALMANAC_URL']

export const allLeaves: readonly SettingLeaf[] = settingLeaves(settingsSchema)
const fixedLeaves = allLeaves.filter(leaf => leaf.path[0] !== 'chains')
const chainLeaves = allLeaves.filter(leaf => leaf.path[0] === 'chains')

/** `limits.pageSizeMax` is `ALMANAC_LIMITS_PAGE_SIZE_MAX`. */
export function variableOf(path: readonly string[]): string {
  return prefix + path.map(variablePart).join('_')
}

/** `log.level` is `--log-level`. */
export function flagOf(path: readonly string[]): string {
  return `--${path.map(part => part.replaceAll('_', '-')).join('-')}`
}

export function readEnvironment(environment: NodeJS.ProcessEnv): { overrides: Override[]; unknown: string[] } {
  const overrides: Override[] = []
  const unknown: string[] = []
  for (const [name, text] of Object.entries(environment)) {
    // An empty variable counts as unset: containers often pass one on.
    if (!name.startsWith(prefix) || text === undefined || text === '' || reservedVariables.includes(name)) continue
    const found = findFixed(name) ?? findChain(name)
    if (found === undefined) unknown.push(name)
    else overrides.push({ path: found.path, value: parseText(found.leaf, text), source: name })
  }
  return { overrides, unknown }
}

/** Flags as commander gives them: by path joined with dots. */
export function readFlags(flags: ReadonlyMap<string, string | boolean>): Override[] {
  return allLeaves.flatMap(leaf => {
    const given = flags.get(leaf.path.join('.'))
    if (given === undefined) return []
    const value = typeof given === 'string' ? parseText(leaf, given) : given
    return [{ path: leaf.path, value, source: flagOf(leaf.path) }]
  })
}

function findFixed(name: string): { leaf: SettingLeaf; path: readonly string[] } | undefined {
  const leaf = fixedLeaves.find(candidate => variableOf(candidate.path) === name)
  return leaf === undefined ? undefined : { leaf, path: leaf.path }
}

/** `ALMANAC_CHAINS_BSC_TESTNET_RPC`: the name of the chain stands between the section and the setting. */
function findChain(name: string): { leaf: SettingLeaf; path: readonly string[] } | undefined {
  const start = `${prefix}CHAINS_`
  if (!name.startsWith(start)) return undefined
  const leaf = chainLeaves.find(candidate => name.endsWith(`_${variablePart(candidate.path.at(-1)!)}`))
  if (leaf === undefined) return undefined
  const spelled = name.slice(start.length, -1 - variablePart(leaf.path.at(-1)!).length)
  if (spelled === '') return undefined
  const known = referenceChains.find(chain => variablePart(chain.name) === spelled)
  return { leaf, path: ['chains', known?.name ?? spelled.toLowerCase(), leaf.path.at(-1)!] }
}

function variablePart(part: string): string {
  return part
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]/g, '_')
    .toUpperCase()
}

/** What is not of the wanted kind stays text, so that the schema can refuse it by name. */
function parseText(leaf: SettingLeaf, text: string): unknown {
  if (leaf.kind === 'list') {
    return text
      .split(',')
      .map(item => item.trim())
      .filter(item => item !== '')
  }
  if (leaf.kind === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (leaf.kind === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  return text
}
