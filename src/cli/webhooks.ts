// Creates, lists, pauses, resumes, tests, rotates and deletes webhooks. It opens the store beside a running server,
// which sends them.
import { Command, Option } from 'commander'
import { WebhookManager } from '../api/evm/webhooks/manage-webhooks.ts'
import { newWebhook } from '../api/evm/webhooks/schemas.ts'
import { shownDelivery, shownWebhook } from '../api/evm/webhooks/shown-webhook.ts'
import type { LoadedConfig } from '../config/load.ts'
import { durationText } from '../duration-text.ts'
import { AlmanacError } from '../errors.ts'
import { findKey, hasScope, keysInForce, scopeLacking } from '../keys/keys.ts'
import { parseGrace, usualGrace } from '../keys/rotate-key.ts'
import { KnownLabels } from '../query/known-labels.ts'
import { transferReads } from '../query/nft-transfers.ts'
import type { Store } from '../store/store.ts'
import type { StoredWebhook } from '../store/webhook-store.ts'
import { withStore } from './open-store.ts'
import { wholeNumber } from './options.ts'
import { type Column, fittedTable, printable, printData, printJson, printNote } from './terminal.ts'

export function webhooksCommand(): Command {
  const json = (command: Command) => command.option('--json', 'Print JSON.')
  const ofOne = (name: string, description: string) =>
    json(new Command(name).description(description).argument('<id>', 'Id of the webhook.'))
  const begin = (command: Command) =>
    command
      .option('--after <position>', 'Begin from a position: next of GET /changes.')
      .option('--from-block <block>', 'Begin with a block, inclusive.', wholeNumber('--from-block'))
  const createCommand = begin(
    json(
      new Command('create')
        .description('Create a webhook. Its secret is printed once, alone on stdout.')
        .requiredOption('--key <id-or-name>', 'The key that owns it, with the scope webhooks.')
        .requiredOption('--url <url>', 'Where to send: https, a public host.')
        .requiredOption('--chain <name>', 'Chain, by name or hex id.')
        .option('--name <name>', 'What it is for.', 'unnamed')
        .option('--contract <address>', 'Changes of this contract.')
        .option('--wallet <address>', 'Transfers to and from this wallet.')
        .option('--token-id <id>', 'Transfers of this token of the contract.')
        .option('--kinds <list>', 'Comma-separated: nft_transfer, erc20_transfer. Default: nft_transfer.')
        .addOption(new Option('--finality <which>', 'final: what is final alone.').choices(['seen', 'final'])),
    ),
  )
  const resumeCommand = begin(
    json(new Command('resume').description('Send again what is due, from a position or from where it was.'))
      .argument('[id]', 'Id of the webhook.')
      .option('--all', 'Every webhook.')
      .option(
        '--restart',
        'First tell receivers to forget what is not final yet, then send that again: after a database was restored with its own tools.',
      ),
  )
  const rotateCommand = ofOne(
    'rotate',
    'Make a new secret, which is printed once, alone on stdout. The old one signs too for the grace period.',
  ).addOption(
    new Option('--grace <span>', 'How long the old secret signs too, such as 30m or 7d; 0: not at all.')
      .argParser(parseGrace)
      .default(parseGrace(usualGrace), usualGrace),
  )
  return new Command('webhooks')
    .description('Create, list, pause, resume, test, rotate and delete webhooks.')
    .addCommand(withStore(createCommand, create))
    .addCommand(withStore(json(new Command('list').description('List webhooks with their states.')), list))
    .addCommand(withStore(ofOne('show', 'Show a webhook with its last deliveries.'), show))
    .addCommand(withStore(ofOne('pause', 'Pause a webhook. Nothing is lost meanwhile.'), pause))
    .addCommand(withStore(resumeCommand, resume))
    .addCommand(withStore(ofOne('test', 'Send a test from this machine, and tell what became of it.'), test))
    .addCommand(withStore(rotateCommand, rotate))
    .addCommand(withStore(ofOne('delete', 'Delete a webhook.'), remove))
}

function managerOf(store: Store, { config, chains }: LoadedConfig): WebhookManager {
  const modes = Object.entries(config.chains).map(([name, { index, views }]) => {
    return [name, { nft: index, erc20: views?.includes('erc20') ? index : ('on-demand' as const) }] as const
  })
  const reads = transferReads(store, new KnownLabels(store, () => store.revision()), chains)
  return new WebhookManager(
    { store, chains, indexModes: async () => Object.fromEntries(modes), ...reads },
    config.webhooks,
  )
}

type Flags = { json?: true }

async function shownOf(store: Store, { chains }: LoadedConfig, stored: StoredWebhook) {
  return shownWebhook(stored, { chains, isOwn: true, inForce: keysInForce(await store.keys(), 'webhooks') })
}

async function found(store: Store, id: string): Promise<StoredWebhook> {
  const [stored] = await store.webhooks({ id })
  if (stored !== undefined) return stored
  throw new AlmanacError('not_found', `No webhook has the id ${JSON.stringify(id)}.`, {
    hint: 'run `almanac webhooks list` to see the webhooks.',
  })
}

type CreateFlags = Flags & { key: string; kinds?: string; tokenId?: string; fromBlock?: number } & Record<
    'name' | 'url' | 'chain' | 'contract' | 'wallet' | 'finality' | 'after',
    string
  >

async function create(store: Store, loaded: LoadedConfig, flags: CreateFlags): Promise<void> {
  const { key: named, kinds, tokenId, fromBlock, json, ...given } = flags
  const key = await findKey(store, named)
  if (!hasScope(key, 'webhooks')) throw scopeLacking('webhooks')
  const fields = { token_id: tokenId, from_block: fromBlock, kinds: kinds?.split(',').map(kind => kind.trim()) }
  const said = Object.entries({ ...given, ...fields }).filter(
    ([name, value]) => name in newWebhook.shape && value !== undefined,
  )
  const wanted = newWebhook.safeParse(Object.fromEntries(said))
  if (!wanted.success) {
    const flag = String(wanted.error.issues[0]?.path[0] ?? 'url').replaceAll('_', '-')
    throw new AlmanacError('bad_request', `--${flag} cannot be used.`, {
      hint: 'see `almanac webhooks create --help`.',
    })
  }
  const manager = managerOf(store, loaded)
  const filter = await manager.filter(wanted.data)
  const { stored, secret } = await manager.create(wanted.data, filter, { keyId: key.id, ofKeys: [key.id] })
  if (json) return printJson({ ...(await shownOf(store, loaded, stored)), secret })
  printNote(`Created webhook ${stored.webhook.id} (${printable(stored.webhook.name)}). The secret is not shown again:`)
  printData(secret)
}

async function list(store: Store, loaded: LoadedConfig, { json }: Flags): Promise<void> {
  const shown = await Promise.all((await store.webhooks()).map(each => shownOf(store, loaded, each)))
  if (json) return printJson(shown)
  if (shown.length === 0) return printData('No webhooks.')
  const rows = shown.map(({ id, name, state, chain, lag_seconds, url, reason }) => [
    ...[id, printable(name), state, chain, lag_seconds === 0 ? '-' : durationText(lag_seconds), printable(url)],
    reason ?? '',
  ])
  printData(fittedTable(columns, rows))
}

const columns: readonly Column[] = [
  { title: 'ID' },
  { title: 'NAME' },
  { title: 'STATE' },
  { title: 'CHAIN', drop: 1 },
  { title: 'BEHIND' },
  { title: 'URL', min: 16, drop: 3 },
  { title: 'REASON', min: 16, drop: 2 },
]

async function show(store: Store, loaded: LoadedConfig, id: string, { json }: Flags): Promise<void> {
  const shown = await shownOf(store, loaded, await found(store, id))
  const deliveries = (await store.deliveries(id)).map(shownDelivery)
  if (json) return printJson({ ...shown, deliveries })
  const { position: _, ...facts } = shown
  for (const [name, value] of Object.entries(facts))
    if (value !== null) printData(`${name.padEnd(16)} ${printable(String(value))}`)
  if (deliveries.length === 0) return
  const rows = deliveries.map(({ at, status, changes, milliseconds, error }) => [
    ...[at, `${status ?? '-'}`, `${changes}`, `${milliseconds}`, error ?? ''],
  ])
  printData(
    `\n${fittedTable([{ title: 'SENT' }, { title: 'STATUS' }, { title: 'CHANGES' }, { title: 'MS' }, { title: 'ERROR', min: 16 }], rows)}`,
  )
}

async function pause(store: Store, loaded: LoadedConfig, id: string, { json }: Flags): Promise<void> {
  await found(store, id)
  await store.changeWebhook(id, { paused: true })
  await told(store, loaded, id, { json, text: 'Paused' })
}

type ResumeFlags = Flags & { all?: true; restart?: true; after?: string; fromBlock?: number }

async function resume(store: Store, loaded: LoadedConfig, id: string | undefined, flags: ResumeFlags): Promise<void> {
  const { all, restart, after, fromBlock, json } = flags
  if ((id === undefined) !== (all === true))
    throw new AlmanacError('bad_request', 'Name one webhook, or pass --all.', {
      hint: 'for example: almanac webhooks resume wh_…',
    })
  const manager = managerOf(store, loaded)
  for (const stored of id === undefined ? await store.webhooks() : [await found(store, id)]) {
    if (restart) await store.changeWebhook(stored.webhook.id, { paused: false }, { restart: true })
    else
      await manager.resume(stored, {
        ...(after === undefined ? {} : { after }),
        ...(fromBlock === undefined ? {} : { from_block: fromBlock }),
      })
    await told(store, loaded, stored.webhook.id, { json, text: 'Resumed' })
  }
}

async function test(store: Store, loaded: LoadedConfig, id: string, { json }: Flags): Promise<void> {
  const { status, error, tookMs } = await managerOf(store, loaded).test(await found(store, id))
  if (json)
    printJson({ delivered: error === undefined, status: status ?? null, error: error ?? null, milliseconds: tookMs })
  else printNote(error === undefined ? `Delivered: ${status} after ${tookMs} ms.` : `Not delivered: ${error}.`)
  if (error !== undefined) process.exitCode = 1
}

async function rotate(
  store: Store,
  loaded: LoadedConfig,
  id: string,
  { grace, json }: Flags & { grace: number },
): Promise<void> {
  const secret = await managerOf(store, loaded).rotate(await found(store, id), grace)
  if (json) return printJson({ ...(await shownOf(store, loaded, await found(store, id))), secret })
  printNote(`Webhook ${id} has a new secret. It is not shown again:`)
  printData(secret)
}

async function remove(store: Store, loaded: LoadedConfig, id: string, { json }: Flags): Promise<void> {
  const stored = await found(store, id)
  await store.removeWebhook(id)
  if (json) return printJson(await shownOf(store, loaded, stored))
  printNote(`Deleted webhook ${id} (${printable(stored.webhook.name)}).`)
}

async function told(
  store: Store,
  loaded: LoadedConfig,
  id: string,
  { json, text }: { json: true | undefined; text: string },
): Promise<void> {
  const stored = await found(store, id)
  if (json) return printJson(await shownOf(store, loaded, stored))
  printNote(`${text} webhook ${id} (${printable(stored.webhook.name)}).`)
}
