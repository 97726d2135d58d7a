// Removes a chain, a contract or a view from the store, and says what the configuration makes of that.
import { Command, Option } from 'commander'
import type { ChainTable } from '../chains.ts'
import type { LoadedConfig } from '../config/load.ts'
import { AlmanacError } from '../errors.ts'
import { ledgerId } from '../ledgers.ts'
import type { ChainId } from '../model.ts'
import { forget as forgetAll, forgetName } from '../store/forget.ts'
import { roomInStore } from '../store/open.ts'
import type { ForgetTarget, Store } from '../store/store.ts'
import { engineCosts } from '../tools/plan/measured-costs.ts'
import { type KeptView, usualViews } from '../views.ts'
import { commandLine, interruption } from './current-process.ts'
import { takeChainAsItIs } from './open-chain.ts'
import { parseChain, requireAddress, withConfig } from './options.ts'
import { confirmRemoval } from './questions.ts'
import { compactedText, compactNow } from './store/store.ts'
import { bytesText, countOf, countText, ProgressLine, printData, printJson } from './terminal.ts'

type ForgottenView = Exclude<KeptView, 'transfers' | 'erc20'>
type ForgetFlags = { contract?: string; view?: ForgottenView; compact?: true; yes?: true; json?: true }

export function forgetCommand(): Command {
  const command = new Command('forget')
    .description(
      'Remove everything indexed for a chain, a contract or a view. ERC-20 tokens are included. Labels, marks and keys stay. Stop the service first. If interrupted, the same command continues where it stopped, and so does the next start.',
    )
    .argument('<chain>', 'A chain, configured or not.')
    .option('--contract <address>', 'Only this contract.')
    .addOption(
      new Option('--view <name>', 'Only this view: activity (wallets), by_wallet, by_token or by_block.').choices(
        usualViews.filter(view => view !== 'transfers'),
      ),
    )
    .option('--compact', 'Then free the disk space, as almanac store compact does.')
    .option('--yes', 'Do not ask for confirmation.')
    .option('--json', 'Print the result as JSON.')
  return withConfig(command, ['store'], forget)
}

async function forget(loaded: LoadedConfig, text: string, flags: ForgetFlags): Promise<void> {
  const url = loaded.config.store
  const chain = chainOf(loaded.chains, text)
  const all = forgottenOf(chain.id, flags)
  await using opened = new AsyncDisposableStack()
  const signal = interruption()
  const store = await takeChainAsItIs({ url, chain, opened, mustExist: true })
  const parts = await storedParts(store, all)
  const size = sumOf(parts)
  const name = [chain.name, flags.contract ?? flags.view].filter(part => part !== undefined).join(' ')
  if (parts.length === 0) throw new AlmanacError('not_found', `The store holds nothing of ${name}.`)
  if (flags.yes !== true) await confirmRemoval(`Forget ${name}: ${await sizeText(store, size)}?`)
  await remove({ store, parts, name, opened, signal })
  await opened.disposeAsync()
  const sizes = flags.compact ? await compactNow(url) : undefined
  const [what] = all
  const next = nextSteps(loaded, chain.name, what)
  if (flags.json)
    return printJson({
      ...{ chain: chain.name, contract: what.contract ?? null, view: what.view ?? null, ...size, next },
      ...(sizes === undefined ? {} : { bytes_before: sizes.before, bytes_after: sizes.after }),
    })
  const room = sizes === undefined ? await roomText(url) : compactedText(url, sizes)
  printData([`${name} is forgotten. ${room}`, ...next].join('\n'))
}

/** A chain of its own that is no longer configured is known by its id alone. */
function chainOf(chains: ChainTable, text: string): { id: ChainId; name: string } {
  const isId = /^\d{1,15}$/.test(text)
  return chains.parse(text) === undefined && isId
    ? { id: Number(text) as ChainId, name: text }
    : parseChain(chains, text)
}

/** First of the ledger of NFTs; a chain or a contract goes from that of tokens too. */
function forgottenOf(chain: ChainId, { contract, view }: ForgetFlags): [ForgetTarget, ...ForgetTarget[]] {
  if (contract !== undefined && view !== undefined)
    throw new AlmanacError('bad_request', '--contract and --view exclude each other.', {
      hint: 'forget one after the other.',
    })
  if (view !== undefined) return [{ chain, view }]
  const what = contract === undefined ? {} : { contract: requireAddress(contract) }
  return [
    { chain, ...what },
    { chain: ledgerId(chain, 'erc20'), ...what },
  ]
}

type ForgottenSize = { transfers: number; wallets: number }
type ForgottenPart = { what: ForgetTarget; size: ForgottenSize }

async function storedParts(store: Store, all: readonly ForgetTarget[]): Promise<ForgottenPart[]> {
  const parts: ForgottenPart[] = []
  for (const what of all) {
    const size = await sizeOf(store, what)
    if (await isStored(store, what, size)) parts.push({ what, size })
  }
  return parts
}

function sumOf(parts: readonly ForgottenPart[]): ForgottenSize {
  const sum = (of: keyof ForgottenSize): number => parts.reduce((total, { size }) => total + size[of], 0)
  return { transfers: sum('transfers'), wallets: sum('wallets') }
}

/** Roughly: what is not one contract may have some records twice, and not those of recent blocks. */
async function sizeOf(store: Store, { chain, contract, view }: ForgetTarget): Promise<ForgottenSize> {
  if (contract !== undefined) return { transfers: await store.transferCount({ chain, contract }), wallets: 0 }
  const runs = (await store.runs()).filter(each => each.chain === chain)
  const recordsOf = (name: string): number => runs.find(each => each.view === name)?.records ?? 0
  if (view !== undefined && view !== 'activity') return { transfers: 0, wallets: 0 }
  return { transfers: view === undefined ? recordsOf('transfers') : 0, wallets: recordsOf('activity') }
}

async function isStored(store: Store, { chain, contract, view }: ForgetTarget, size: ForgottenSize): Promise<boolean> {
  if (size.transfers + size.wallets > 0 || (await store.checkpoint(forgetName(chain))) !== undefined) return true
  if (contract !== undefined) {
    const watched = await store.watchedContracts(chain)
    return watched.some(each => each.contract === contract) || (await store.coverage(chain, contract)).length > 0
  }
  if (view === 'activity') return (await store.coverage(chain, 'full')).length > 0
  if (view !== undefined) {
    const { indexes } = await store.indexes.rowState(chain)
    return indexes.some(({ index }) => index === view)
  }
  return (await store.chainState(chain)) !== undefined || (await store.coverage(chain, undefined, 1)).length > 0
}

type Removal = {
  store: Store
  parts: readonly ForgottenPart[]
  name: string
  opened: AsyncDisposableStack
  signal: AbortSignal
}

async function remove({ store, parts, name, opened, signal }: Removal): Promise<void> {
  const line = new ProgressLine()
  opened.defer(() => line.close())
  const { transfers, wallets } = sumOf(parts)
  const expected = countText(transfers + wallets)
  let rows = 0
  const onRemoved = (removed: number): void => {
    rows += removed
    line.offer(() => `Forgetting ${name}: ${countText(rows)} of about ${expected} rows`)
  }
  for (const { what } of parts)
    await forgetAll(store, what, { onRemoved, signal }).catch(error => {
      if (!signal.aborted) throw error
      throw new AlmanacError('interrupted', `Forgetting ${name} was interrupted; a part of it is gone.`, {
        hint: 'run the same command again: it continues where it stopped.',
      })
    })
  line.close()
}

async function sizeText(store: Store, { transfers, wallets }: ForgottenSize): Promise<string> {
  const { transfer, address } = engineCosts[store.engine === 'sqlite' ? 'file' : 'postgres']
  // Millions of transfers may be one row: a range of ids that was minted at once.
  const bytes = Math.min(transfers * transfer + wallets * address, (await store.info()).usedBytes)
  return `about ${countOf(transfers, 'transfer')} and ${countOf(wallets, 'wallet')}, ${bytesText(bytes)}`
}

async function roomText(url: string): Promise<string> {
  const room = await roomInStore(url)
  if (room === undefined)
    return `New rows use the room; \`${commandLine} store compact\` makes the server find it at once.`
  const { bytes, usedBytes } = room
  if (bytes === usedBytes) return 'No whole page of the file is free for new rows.'
  return `${bytesText(bytes - usedBytes)} of the file are free for new rows; \`${commandLine} store compact\` returns them to the disk.`
}

/** What the configuration brings back. */
function nextSteps({ config }: LoadedConfig, name: string, { contract, view }: ForgetTarget): string[] {
  const settings = config.chains[name]
  if (settings === undefined) return []
  const isFull = settings.index === 'full'
  if (contract !== undefined) {
    if (isFull)
      return [
        `${name} is indexed in full: transfers in new blocks are stored again. Answers about the contract are not complete for the blocks before, and almanac verify finds them missing.`,
      ]
    if (settings.contracts.includes(contract))
      return [`The next start indexes it again. Remove it from chains.${name}.contracts to prevent that.`]
    return ['It is indexed again when it is asked for.']
  }
  if (view !== undefined && view !== 'activity')
    return settings.views?.includes(view)
      ? [`The next start fills it again. Remove it from chains.${name}.views to prevent that.`]
      : [`Name it in chains.${name}.views to have it filled again.`]
  if (view !== undefined)
    return isFull
      ? [`The next start fills it again. Set chains.${name}.views to [transfers] to prevent that.`]
      : ['A wallet is looked up again when it is asked for.']
  return [`The next start indexes it again. Remove chains.${name} from the configuration to prevent that.`]
}
