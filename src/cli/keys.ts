// Creates, lists, rotates and revokes keys. It opens the store beside a running server.

import { Command, Option } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { durationText } from '../duration-text.ts'
import { AlmanacError } from '../errors.ts'
import {
  changedKey,
  clientScopes,
  findKey,
  findKeys,
  hashSecret,
  issueKey,
  keyByHash,
  keyNamePattern,
  limitsOfNewKey,
  listKeys,
  parseExpiry,
  type Scope,
  type ShownKey,
  scopes,
  showKey,
  stateOf,
  usualLimits,
  type WantedLimits,
} from '../keys/keys.ts'
import { parseGrace, rotateKey, successorOf, usualGrace } from '../keys/rotate-key.ts'
import type { KeyRecord } from '../store/key-store.ts'
import type { Store } from '../store/store.ts'
import { withStore } from './open-store.ts'
import { wholeNumber } from './options.ts'
import { type Column, countText, fittedTable, printable, printData, printJson, printNote } from './terminal.ts'

export function keysCommand(): Command {
  const createCommand = new Command('create')
    .description('Create a key. Its secret is printed once, alone on stdout; the store keeps only a hash.')
    .option('--name <name>', 'What the key is for.', keyName, 'unnamed')
    .addOption(
      new Option(
        '--scopes <list>',
        `Comma-separated: ${scopes.join(', ')}; client for the first ${clientScopes.length}, or all.`,
      )
        .argParser(parseScopes)
        .default(clientScopes, 'client'),
    )
    .option('--expires <when>', 'A span such as 12h or 90d, or a date. Default: never.', text =>
      parseExpiry(text, Date.now()),
    )
    .option('--json', 'Print the key as JSON, with its secret.')
  const limitCommand = new Command('limit')
    .description(
      'Change the limits of a key. Limits you do not pass stay. Takes effect in every process within a second.',
    )
    .argument('<id-or-name>', 'Id of the key, or its name if no other active key has that name.')
    .option('--json', 'Print the key as JSON.')
  const listCommand = new Command('list')
    .description('List the keys with their limits and their use today.')
    .option('--json', 'Print the list as JSON.')
  const revokeCommand = new Command('revoke')
    .description(
      'Revoke a key. Every process refuses it within a second. By name, also revokes the keys that it replaced and that still work.',
    )
    .argument('<id-or-name>', 'Id of the key, or its name if no other active key has that name.')
    .option('--json', 'Print the key as JSON.')
  const rotateCommand = new Command('rotate')
    .description(
      'Replace a key by a new one with the same name, scopes and limits. Its secret is printed once, alone on stdout; the old key keeps working for the grace period.',
    )
    .argument('<id-or-name>', 'Id of the key, or its name if no other active key has that name.')
    .addOption(
      new Option('--grace <span>', 'How long the old key keeps working, such as 30m or 7d; 0 revokes it at once.')
        .argParser(parseGrace)
        .default(parseGrace(usualGrace), usualGrace),
    )
    .option('--json', 'Print both keys as JSON, with the secret of the new one.')
  return new Command('keys')
    .description('Create, limit, list, rotate and revoke keys, which clients send as X-API-Key.')
    .addCommand(withStore(withLimits(createCommand, usualLimits), create))
    .addCommand(withStore(withLimits(limitCommand), limit))
    .addCommand(withStore(listCommand, list))
    .addCommand(withStore(rotateCommand, rotate))
    .addCommand(withStore(revokeCommand, revoke))
}

type LimitFlags = { json?: true } & Partial<Record<'rate' | 'quota' | 'index' | 'waiting', number | 'none'>>
type CreateFlags = LimitFlags & { name: string; scopes: Scope[]; expires?: number }

/** `usual` are the defaults that the help shows; a key with the scope `keys` gets none of them. */
function withLimits(command: Command, usual?: WantedLimits): Command {
  const about = (text: string, limit: number | null | undefined): string =>
    usual === undefined ? `${text}, or none.` : `${text}, or none. Default: ${limit ?? 'none'}.`
  const indexed = 'new contracts, wallets and Solana owners'
  return command
    .option('--rate <number>', about('Maximum requests per second', usual?.ratePerSecond), limitOr('--rate', 1))
    .option('--quota <number>', about('Maximum requests per day (UTC)', usual?.quotaPerDay), limitOr('--quota', 1))
    .option(
      '--index <number>',
      about(`Maximum ${indexed} to index per day (UTC)`, usual?.indexPerDay),
      limitOr('--index'),
    )
    .option(
      '--waiting <number>',
      about('Maximum of them waiting at once', usual?.indexWaiting),
      limitOr('--waiting', 1),
    )
}

/** Commander takes null for no value. */
function limitOr(flag: string, min = 0): (text: string) => number | 'none' {
  const parse = wholeNumber(flag, min)
  return text => (text === 'none' ? text : parse(text))
}

function wantedLimits({ rate, quota, index, waiting }: LimitFlags): WantedLimits {
  const limitOf = (given: number | 'none' | undefined) => (given === 'none' ? null : given)
  return {
    ratePerSecond: limitOf(rate),
    quotaPerDay: limitOf(quota),
    indexPerDay: limitOf(index),
    indexWaiting: limitOf(waiting),
  }
}

async function create(store: Store, _: LoadedConfig, flags: CreateFlags): Promise<void> {
  const { name, scopes, expires: expiresAt } = flags
  const limits = limitsOfNewKey(scopes, wantedLimits(flags))
  const sameName = (await store.keys()).some(key => key.name === name && stateOf(key) === 'active')
  const { key, secret } = await issueKey(store, { name, scopes, expiresAt, ...limits })
  if (sameName && name !== 'unnamed')
    printNote(`Another active key is named ${printable(name)}: limit and revoke each by its id.`)
  if (flags.json) return printJson({ ...showKey(key), secret })
  printNote(`Created key ${key.id} (${key.name}) for ${key.scopes.join(', ')}. The secret is not shown again:`)
  printData(secret)
}

async function limit(store: Store, _: LoadedConfig, idOrName: string, flags: LimitFlags): Promise<void> {
  const key = await findKey(store, idOrName)
  const changed = changedKey(key, wantedLimits(flags), await operatorKeyId(store))
  await store.putKey(changed)
  if (flags.json) return printJson(showKey(changed))
  printNote(`Changed the limits of key ${key.id} (${printable(key.name)}).`)
}

async function list(store: Store, _: LoadedConfig, { json }: { json?: true }): Promise<void> {
  const shown = await listKeys(store, await operatorKeyId(store))
  if (json) return printJson(shown)
  if (shown.length === 0) return printData('No keys.')
  const now = Date.now()
  const rows = shown.map(key => [
    ...[key.id, printable(key.name), stateText(key, shown, now), scopesText(key.scopes), limitsText(key)],
    // As the console has it: where there is a quota all that it counts, else the requests of clients.
    ...[countText(key.quota_per_day === null ? key.requests_today : key.used_today), key.created_at!.slice(0, 10)],
  ])
  printData(fittedTable(columns, rows))
}

const columns: readonly Column[] = [
  { title: 'ID' },
  { title: 'NAME' },
  { title: 'STATE' },
  { title: 'SCOPES', min: 12, drop: 1 },
  { title: 'LIMITS', min: 16, drop: 2 },
  { title: 'TODAY', drop: 3 },
  { title: 'CREATED', drop: 4 },
]

function stateText({ id, state, expires_at }: ShownKey, all: readonly ShownKey[], now: number): string {
  if (state !== 'active' || expires_at === null) return state
  const isReplaced = all.some(other => other.replaces_id === id && other.state === 'active')
  // The larger unit alone; a key that was made for 90 days a moment ago has 90 days.
  const minutes = Math.ceil((Date.parse(expires_at) - now) / 60_000)
  const left = durationText(minutes * 60).split(' ')
  return `${isReplaced ? 'retires' : 'expires'} in ${left.slice(0, 2).join(' ')}`
}

/** In the words that `--scopes` takes. */
function scopesText(held: readonly string[]): string {
  if (scopes.every(scope => held.includes(scope))) return 'all'
  if (!clientScopes.every(scope => held.includes(scope))) return held.join()
  return ['client', ...held.filter(scope => !clientScopes.includes(scope as Scope))].join()
}

function limitsText({ rate_per_second, quota_per_day, index_per_day, index_waiting }: ShownKey): string {
  const said = [
    rate_per_second === null ? [] : `${rate_per_second} rps`,
    quota_per_day === null ? [] : `${quota_per_day}/day`,
    index_per_day === null ? [] : `index ${index_per_day}/day`,
    index_waiting === null ? [] : `${index_waiting} waiting`,
  ].flat()
  return said.length === 0 ? 'none' : said.join(', ')
}

/** The key whose secret the environment has here; that of the service may have another. */
async function operatorKeyId(store: Store): Promise<string | undefined> {
  return (await keyByHash(store, hashSecret(process.env.ALMANAC_KEY ?? '')))?.id
}

type RotateFlags = { grace: number; json?: true }

async function rotate(store: Store, _: LoadedConfig, idOrName: string, flags: RotateFlags): Promise<void> {
  const old = await findKey(store, idOrName)
  const successor = successorOf(old, Date.now(), await operatorKeyId(store))
  const { key, secret, retired } = await rotateKey(store, old, { graceMs: flags.grace, successor })
  if (flags.json) return printJson({ key: { ...showKey(key), secret }, replaced: showKey(retired) })
  const end =
    retired.revokedAt === undefined
      ? `works until ${new Date(retired.expiresAt!).toISOString().replace(/\.\d+Z$/, 'Z')}`
      : 'is revoked'
  printNote(`Key ${key.id} (${printable(key.name)}) replaces ${old.id}, which ${end}. The secret is not shown again:`)
  printData(secret)
}

/** By its name, with those that a rotation left working for a while. */
async function revoke(store: Store, _: LoadedConfig, idOrName: string, { json }: { json?: true }): Promise<void> {
  const now = Date.now()
  const revoked: KeyRecord[] = []
  for (const key of await findKeys(store, idOrName)) {
    if (key.revokedAt === undefined) await store.endKey(key.id, { revokedAt: now })
    revoked.push({ ...key, revokedAt: key.revokedAt ?? now })
  }
  if (json) return printJson(showKey(revoked[0]!))
  for (const { id, name, revokedAt } of revoked)
    printNote(`Revoked key ${id} (${printable(name)}) at ${new Date(revokedAt!).toISOString()}.`)
}

function parseScopes(text: string): Scope[] {
  if (text === 'all') return [...scopes]
  const words = text.split(',').map(part => part.trim())
  const wanted = new Set<string>(words.flatMap(word => (word === 'client' ? clientScopes : word)))
  const unknown = [...wanted].filter(scope => !scopes.includes(scope as Scope))
  if (unknown.length === 0) return scopes.filter(scope => wanted.has(scope))
  throw new AlmanacError('bad_request', `${JSON.stringify(unknown[0])} is not a scope.`, {
    hint: `pass one or more of ${scopes.join(', ')}, client or all.`,
  })
}

function keyName(text: string): string {
  if (keyNamePattern.test(text)) return text
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} cannot be the name of a key.`, {
    hint: 'pass 1 to 100 characters on one line.',
  })
}
