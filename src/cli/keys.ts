// The commands that issue, list and revoke keys. They open the store beside a running server.
import { Command } from 'commander'
import { AlmanacError } from '../errors.ts'
import { findKey, issueKey, keyNamePattern, listKeys, parseExpiry, type Scope, scopes, showKey } from '../keys/keys.ts'
import { addConfigOptions } from './options.ts'
import { printable, printData, printJson, printNote, table } from './terminal.ts'
import { withStore } from './with-store.ts'

type CreateOptions = {
  name: string
  scopes: string
  expires?: string
  rate?: string
  quota?: string
  index?: string
  json?: true
}

export function keysCommand(): Command {
  const keys = new Command('keys').description('Issue, list and revoke the keys that clients send as X-API-Key.')
  keys.addCommand(createCommand()).addCommand(listCommand()).addCommand(revokeCommand())
  return keys
}

function createCommand(): Command {
  const command = new Command('create')
    .description('Issue a key. Its secret is printed once, alone on stdout; only a hash of it is stored.')
    .option('--name <name>', 'What the key is for.', 'unnamed')
    .option(
      '--scopes <list>',
      `Comma-separated: ${scopes.join(', ')}, or all.`,
      'nft-transfers,wallet-chains,portfolio',
    )
    .option('--expires <when>', 'A span such as 12h or 90d, or a date. Without it the key does not expire.')
    .option('--rate <number>', 'The most requests a second. Without it there is no limit.')
    .option('--quota <number>', 'The most requests a day (UTC). Without it there is no limit.')
    .option(
      '--index <number>',
      'The most contracts and wallets a day (UTC) that are indexed because this key asks for them; 0: none. Without it there is no limit.',
    )
    .option('--json', 'Print the key as JSON, with its secret.')
  addConfigOptions(command, ['store']).action(async (options: CreateOptions) => {
    const wanted = {
      name: keyName(options.name),
      scopes: parseScopes(options.scopes),
      expiresAt: options.expires === undefined ? undefined : parseExpiry(options.expires, Date.now()),
      ratePerSecond: parseCount('--rate', options.rate),
      quotaPerDay: parseCount('--quota', options.quota),
      indexPerDay: parseCount('--index', options.index, 0),
    }
    const { key, secret } = await withStore(command, store => issueKey(store, wanted))
    if (options.json) return printJson({ ...showKey(key, 0), secret })
    printNote(`Key ${key.id} (${key.name}) may: ${key.scopes.join(', ')}. The secret is shown only now:`)
    printData(secret)
  })
  return command
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List the keys with their limits and what each used today.')
    .option('--json', 'Print the list as JSON.')
  addConfigOptions(command, ['store']).action(async (options: { json?: true }) => {
    const shown = await withStore(command, listKeys)
    if (options.json) return printJson(shown)
    const heading = ['ID', 'NAME', 'STATE', 'SCOPES', 'RATE/S', 'QUOTA/DAY', 'INDEX/DAY', 'TODAY', 'CREATED', 'EXPIRES']
    const text = (value: string | number | null) => (value === null ? '-' : String(value))
    const day = (moment: string | null) => text(moment?.slice(0, 10) ?? null)
    printData(
      table(
        heading,
        shown.map(key => [
          key.id,
          printable(key.name),
          key.state,
          key.scopes.join(','),
          text(key.rate_per_second),
          text(key.quota_per_day),
          text(key.index_per_day),
          text(key.used_today),
          day(key.created_at),
          day(key.expires_at),
        ]),
      ),
    )
  })
  return command
}

function revokeCommand(): Command {
  const command = new Command('revoke')
    .description('Revoke a key: it stops working within a second in every process.')
    .argument('<id-or-name>', 'The id of the key, or its name where no other key in use has it.')
    .option('--json', 'Print the key as JSON.')
  addConfigOptions(command, ['store']).action(async (idOrName: string, options: { json?: true }) => {
    const key = await withStore(command, async store => {
      const found = await findKey(store, idOrName)
      if (found.revokedAt !== undefined) return found
      const revokedAt = Date.now()
      await store.revokeKey(found.id, revokedAt)
      return { ...found, revokedAt }
    })
    if (options.json) return printJson(showKey(key, 0))
    printNote(`Key ${key.id} (${printable(key.name)}) is revoked since ${new Date(key.revokedAt!).toISOString()}.`)
  })
  return command
}

function parseScopes(text: string): Scope[] {
  if (text === 'all') return [...scopes]
  const wanted = new Set(text.split(',').map(part => part.trim()))
  const unknown = [...wanted].filter(scope => !scopes.includes(scope as Scope))
  if (unknown.length === 0) return scopes.filter(scope => wanted.has(scope))
  throw new AlmanacError('bad_request', `${JSON.stringify(unknown[0])} is no scope.`, {
    hint: `give some of ${scopes.join(', ')}, or all.`,
  })
}

function parseCount(flag: string, text: string | undefined, least: 0 | 1 = 1): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,12}$/.test(text) && Number(text) >= least) return Number(text)
  throw new AlmanacError('bad_request', `${flag} is ${JSON.stringify(text)}.`, {
    hint: `give a whole number from ${least} on.`,
  })
}

function keyName(text: string): string {
  if (keyNamePattern.test(text)) return text
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} cannot be the name of a key.`, {
    hint: 'give 1 to 100 characters on one line.',
  })
}
