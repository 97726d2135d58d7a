// Creates, lists and revokes keys. It opens the store beside a running server.
import { Command, Option } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import {
  clientScopes,
  findKey,
  issueKey,
  keyNamePattern,
  listKeys,
  parseExpiry,
  type Scope,
  scopes,
  showKey,
} from '../keys/keys.ts'
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
    .option('--rate <number>', 'Maximum requests per second. Default: no limit.', wholeNumber('--rate', 1))
    .option('--quota <number>', 'Maximum requests per day (UTC). Default: no limit.', wholeNumber('--quota', 1))
    .option(
      '--index <number>',
      'Maximum contracts and wallets per day (UTC) to index on demand for this key; 0: none. Default: no limit.',
      wholeNumber('--index'),
    )
    .option('--json', 'Print the key as JSON, with its secret.')
  const listCommand = new Command('list')
    .description('List the keys with their limits and their use today.')
    .option('--json', 'Print the list as JSON.')
  const revokeCommand = new Command('revoke')
    .description('Revoke a key. Every process refuses it within a second.')
    .argument('<id-or-name>', 'Id of the key, or its name if no other active key has that name.')
    .option('--json', 'Print the key as JSON.')
  return new Command('keys')
    .description('Create, list and revoke keys, which clients send as X-API-Key.')
    .addCommand(withStore(createCommand, create))
    .addCommand(withStore(listCommand, list))
    .addCommand(withStore(revokeCommand, revoke))
}

type CreateFlags = { name: string; scopes: Scope[]; json?: true } & Partial<
  Record<'expires' | 'rate' | 'quota' | 'index', number>
>

async function create(store: Store, _: LoadedConfig, flags: CreateFlags): Promise<void> {
  const { name, scopes, expires: expiresAt, rate: ratePerSecond, quota: quotaPerDay, index: indexPerDay } = flags
  const { key, secret } = await issueKey(store, { name, scopes, expiresAt, ratePerSecond, quotaPerDay, indexPerDay })
  if (flags.json) return printJson({ ...showKey(key, 0), secret })
  printNote(`Created key ${key.id} (${key.name}) for ${key.scopes.join(', ')}. The secret is not shown again:`)
  printData(secret)
}

async function list(store: Store, _: LoadedConfig, { json }: { json?: true }): Promise<void> {
  const shown = await listKeys(store)
  if (json) return printJson(shown)
  const heading = ['ID', 'NAME', 'STATE', 'SCOPES', 'RATE/S', 'QUOTA/DAY', 'INDEX/DAY', 'TODAY', 'CREATED', 'EXPIRES']
  const rows = shown.map(key => {
    const limits = [key.rate_per_second, key.quota_per_day, key.index_per_day, key.used_today]
    const days = [key.created_at, key.expires_at].map(moment => moment?.slice(0, 10))
    const facts = [...limits, ...days].map(value => String(value ?? '-'))
    return [key.id, printable(key.name), key.state, key.scopes.join(), ...facts]
  })
  printData(table(heading, rows))
}

async function revoke(store: Store, _: LoadedConfig, idOrName: string, { json }: { json?: true }): Promise<void> {
  const key = await findKey(store, idOrName)
  const revokedAt = key.revokedAt ?? Date.now()
  if (key.revokedAt === undefined) await store.revokeKey(key.id, revokedAt)
  if (json) return printJson(showKey({ ...key, revokedAt }, 0))
  printNote(`Revoked key ${key.id} (${printable(key.name)}) at ${new Date(revokedAt).toISOString()}.`)
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
