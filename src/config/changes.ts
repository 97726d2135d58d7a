// What another reading of the configuration changes, and what of it a running service takes. Pure.
import { isDeepStrictEqual } from 'node:util'
import { allLeaves } from './overrides.ts'
import { camelCase } from './setting.ts'
import type { Config } from './settings.ts'

/** Names such as `chains.eth.rpc`; a chain or network that came or went is named as a whole. */
export type SettingChanges = { reloadable: string[]; needRestart: string[] }

export function settingChanges(before: Config, after: Config): SettingChanges {
  const [sectionsBefore, sectionsAfter] = [sectionsOf(before), sectionsOf(after)]
  const changes: SettingChanges = {
    reloadable: [],
    needRestart: [...sectionsBefore.symmetricDifference(sectionsAfter)],
  }
  for (const { path, reloads } of leavesOf(sectionsBefore.intersection(sectionsAfter))) {
    const values = [valueAt(before, path), valueAt(after, path)] as const
    if (isDeepStrictEqual(...values)) continue
    changes[reloads && !isFirstNode(path, values) ? 'reloadable' : 'needRestart'].push(path.join('.'))
  }
  return changes
}

/** The configuration that runs, with what a running service takes of another one. */
export function withReloadable(running: Config, next: Config): Config {
  const config = structuredClone(running)
  const both = sectionsOf(running).intersection(sectionsOf(next))
  for (const { path, reloads } of leavesOf(both)) {
    if (!reloads || isFirstNode(path, [valueAt(running, path), valueAt(next, path)])) continue
    const section = valueAt(config, path.slice(0, -1)) as Record<string, unknown>
    section[camelCase(path.at(-1)!)] = valueAt(next, path)
  }
  return config
}

/** An archive follows no head: a chain that gets its first node, or loses its last one, is restarted. */
function isFirstNode([group, , name]: readonly string[], values: readonly [unknown, unknown]): boolean {
  return group === 'chains' && name === 'rpc' && values.some(value => (value as readonly string[]).length === 0)
}

/** The chains and networks, such as `chains.eth`. */
function sectionsOf({ chains, solana }: Config): Set<string> {
  const networks = Object.entries(solana).flatMap(([name, settings]) => (settings === undefined ? [] : [name]))
  return new Set([...Object.keys(chains).map(name => `chains.${name}`), ...networks.map(name => `solana.${name}`)])
}

type Leaf = { path: readonly string[]; reloads: boolean }

/** Every setting outside of chains and networks, and those of the given ones. */
function leavesOf(sections: ReadonlySet<string>): Leaf[] {
  const chains = [...sections].flatMap(section => (section.startsWith('chains.') ? [section.slice(7)] : []))
  return allLeaves.flatMap(({ path, reloads = false }): Leaf[] => {
    const [group, name] = path
    if (group === 'chains') return chains.map(chain => ({ path: [group, chain, ...path.slice(2)], reloads }))
    return group === 'solana' && !sections.has(`solana.${name}`) ? [] : [{ path, reloads }]
  })
}

/** Names of chains are kept as they are; settings are spelled in camelCase inside. */
function valueAt(config: Config, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, part, depth) =>
      (value as Record<string, unknown>)[path[0] === 'chains' && depth === 1 ? part : camelCase(part)],
    config,
  )
}
