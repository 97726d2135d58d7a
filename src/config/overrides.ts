// Settings from the environment and from flags. Their names come from the table of settings, so every setting has an
// environment variable; text becomes a number, boolean or list where the setting is one.
import { namedChains } from '../chains.ts'
import { type SettingLeaf, settingLeaves } from './setting.ts'
import { settingsSchema } from './settings.ts'

/** A value from outside the file; `source` is the variable or flag that gave it. */
export type Override = { path: readonly string[]; value: unknown; source: string }

const prefix = 'ALMANAC_'
/** Variables that are not settings: keys, the configuration file, and the server that `status` and `compare` ask. */
export const reservedVariables = ['ALMANAC_KEY', 'ALMANAC_CONFIG', 'ALMANAC_URL', 'ALMANAC_COMPARE_KEY']

export const allLeaves: readonly SettingLeaf[] = settingLeaves(settingsSchema)

/** `limits.page_size_max` is `ALMANAC_LIMITS_PAGE_SIZE_MAX`. */
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
    const found = findLeaf(name)
    if (found === undefined) unknown.push(name)
    else overrides.push({ path: found.path, value: parseText(found.leaf, text), source: name })
  }
  return { overrides, unknown }
}

/** Flags are keyed by the path of the setting, joined with dots. */
export function readFlags(flags: ReadonlyMap<string, string | boolean>): Override[] {
  return allLeaves.flatMap(leaf => {
    const given = flags.get(leaf.path.join('.'))
    if (given === undefined) return []
    const value = typeof given === 'string' ? parseText(leaf, given) : given
    return [{ path: leaf.path, value, source: flagOf(leaf.path) }]
  })
}

/** In `ALMANAC_CHAINS_BSC_TESTNET_RPC`, the name of the chain is between the section and the setting. */
function findLeaf(name: string): { leaf: SettingLeaf; path: readonly string[] } | undefined {
  for (const leaf of allLeaves) {
    const match = new RegExp(`^${variableOf(leaf.path).replace('__NAME__', '_(.+)_')}$`).exec(name)
    if (match === null) continue
    const [, spelled = ''] = match
    // No chain is called so, and `__proto__` is not a key like others.
    if (spelled.startsWith('_')) continue
    const chain = namedChains.find(known => variablePart(known.name) === spelled)?.name ?? spelled.toLowerCase()
    return { leaf, path: leaf.path.map(part => (part === '<name>' ? chain : part)) }
  }
  return undefined
}

function variablePart(part: string): string {
  return part.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()
}

/** Text of the wrong kind stays text: the schema refuses it by name. */
function parseText(leaf: SettingLeaf, text: string): unknown {
  if (leaf.kind === 'list') {
    const items = text.split(',').map(item => item.trim())
    return items.filter(item => item !== '')
  }
  if (leaf.kind === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (leaf.kind === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  return text
}
