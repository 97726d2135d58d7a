// Creates, lists, rotates and revokes keys. It opens the store beside a running server.
import { Command, Option } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import {
  changedLimits,
  clientScopes,
  findKey,
  findKeys,
  issueKey,
  keyNamePattern,
  limitsOfNewKey,
  listKeys,
  operatorKeyName,
  parseExpiry,
  type Scope,
  scopes,
  showKey,
  usualLimits,
  type WantedLimits,
} from '../keys/keys.ts'
import { parseGrace, rotateKey, usualGrace } from '../keys/rotate-key.ts'
import type { KeyRecord } from '../store/key-store.ts'
import type { Store } from '../store/store.ts'
import { withStore } from './open-store.ts'
import { wholeNumber } from './options.ts'
import { printable, printData, printJson, printNote, table } from './terminal.ts'

export function keysCommand(): Command {
  const createCommand = new Command('create')
    .description('Create a key. Its secret is printed once, alone on stdout; the store keeps only a hash.')
    .option('--name <name>', 'What the key is for.', keyName, 'unnamed')
    .addOption(
      new Option('--scopes <list>', `Comma-separated: ${scopes.join(', ')}, or all.`)
        .argParser(parseScopes)
        .default(clientScopes, clientScopes.join()),
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
  const sameName = (await store.keys()).some(key => key.name === name && key.revokedAt === undefined)
  const { key, secret } = await issueKey(store, { name, scopes, expiresAt, ...limits })
  if (sameName && name !== 'unnamed')
    printNote(`Another active key is named ${printable(name)}: limit and revoke each by its id.`)
  if (flags.json) return printJson({ ...showKey(key, 0), secret })
  printNote(`Created key ${key.id} (${key.name}) for ${key.scopes.join(', ')}. The secret is not shown again:`)
  printData(secret)
}

async function limit(store: Store, _: LoadedConfig, idOrName: string, flags: LimitFlags): Promise<void> {
  const key = await findKey(store, idOrName)
  if (key.name === operatorKeyName)
    throw new AlmanacError('bad_request', `${operatorKeyName} has no limits: the next start would lift them.`, {
      hint: 'create a key with `almanac keys create` and limit that one.',
    })
  const changed = { ...key, ...changedLimits(key, wantedLimits(flags)) }
  await store.putKey(changed)
  if (flags.json) return printJson(showKey(changed, 0))
  printNote(`Changed the limits of key ${key.id} (${printable(key.name)}).`)
}

async function list(store: Store, _: LoadedConfig, { json }: { json?: true }): Promise<void> {
  const shown = await listKeys(store)
  if (json) return printJson(shown)
  if (shown.length === 0) return printData('No keys.')
  const limits = ['LIMITS', 'RATE/S', 'QUOTA/DAY', 'INDEX/DAY', 'WAITING']
  const heading = ['ID', 'NAME', 'STATE', 'SCOPES', ...limits, 'TODAY', 'CREATED', 'EXPIRES']
  const rows = shown.map(key => {
    const limits = [key.rate_per_second, key.quota_per_day, key.index_per_day, key.index_waiting, key.used_today]
    const days = [key.created_at, key.expires_at].map(moment => moment?.slice(0, 10))
    const facts = [...limits, ...days].map(value => String(value ?? '-'))
    return [key.id, printable(key.name), key.state, key.scopes.join(), key.unlimited ? 'NONE' : 'some', ...facts]
  })
  printData(table(heading, rows))
}

type RotateFlags = { grace: number; json?: true }

async function rotate(store: Store, _: LoadedConfig, idOrName: string, flags: RotateFlags): Promise<void> {
  const old = await findKey(store, idOrName)
  const { key, secret, retired } = await rotateKey(store, old, { graceMs: flags.grace })
  if (flags.json) return printJson({ key: { ...showKey(key, 0), secret }, replaced: showKey(retired, 0) })
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
    if (key.revokedAt === undefined) await store.revokeKey(key.id, now)
    revoked.push({ ...key, revokedAt: key.revokedAt ?? now })
  }
  if (json) return printJson(showKey(revoked[0]!, 0))
  for (const { id, name, revokedAt } of revoked)
    printNote(`Revoked key ${id} (${printable(name)}) at ${new Date(revokedAt!).toISOString()}.`)
}

function parseScopes(text: string): Scope[] {
  if (text === 'all') return [...scopes]
  const wanted = new Set(text.split(',').map(part => part.trim()))
  const unknown = [...wanted].filter(scope => !scopes.includes(scope as Scope))
  if (unknown.length === 0) return scopes.filter(scope => wanted.has(scope))
  throw new AlmanacError('bad_request', `${JSON.stringify(unknown[0])} is not a scope.`, {
    hint: `pass some of ${scopes.join(', ')}, or all.`,
  })
}

function keyName(text: string): string {
  if (keyNamePattern.test(text)) return text
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} cannot be the name of a key.`, {
    hint: 'pass 1 to 100 characters on one line.',
  })
}
