// Explains what answers show of a contract. It reads the store, and asks a node of the chain about a transfer, and
// about an address without any.
import { Command } from 'commander'
import type { Chain } from '../chains.ts'
import type { LoadedConfig } from '../config/load.ts'
import { durationText } from '../duration-text.ts'
import { AlmanacError } from '../errors.ts'
import type { Address } from '../model.ts'
import { askAnyProcess } from '../processes/remote-transaction.ts'
import {
  type AskedTransfer,
  explainContract,
  explainTransfer,
  parseAskedTransfer,
  shownExplanation,
  shownTransfer,
} from '../query/explain.ts'
import { Holdings } from '../query/holdings/holdings.ts'
import type { Store } from '../store/store.ts'
import { engineCosts } from '../tools/plan/measured-costs.ts'
import { commandLine, interruption } from './current-process.ts'
import type { isCodeless } from './open-chain.ts'
import { withStore } from './open-store.ts'
import { chooseChain, parseChain, requireAddress } from './options.ts'
import { bytesText, countOf, countText, fitted, printable, printData, printJson } from './terminal.ts'

type Shown = ReturnType<typeof shownExplanation> & { transfer?: ReturnType<typeof shownTransfer> }

export function explainCommand(): Command {
  const command = new Command('explain')
    .description(
      'Explain what answers show for a contract: the spam rules that fired and their numbers, where labels and flags come from, which blocks are covered, and why a transfer is or is not in the index.',
    )
    .argument('<chain>', 'A chain by name or id.')
    .argument('<contract>', '0x and 40 hex digits.', requireAddress)
    .option('--transfer <hash>', 'A transaction, or one of its logs as hash:logIndex; asks a node.', readTransfer)
    .option('--json', 'Print the explanation as JSON.')
  return withStore(command, explain)
}

type ExplainFlags = { transfer?: AskedTransfer; json?: true }

async function explain(
  store: Store,
  loaded: LoadedConfig,
  chainText: string,
  contract: Address,
  { transfer: asked, json }: ExplainFlags,
): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const chain = parseChain(loaded.chains, chooseChain(loaded, chainText).name)
  const holdings = new Holdings(store)
  const explanation = await explainContract({ store, holdings }, chain.id, contract)
  const shown: Shown = shownExplanation(explanation, loaded.chains)
  if (asked !== undefined) {
    const { transactionAsker } = await import('./open-chain.ts')
    const ask = askAnyProcess({ store, chains: loaded.chains, own: transactionAsker(loaded, opened) })
    const node = await ask({ chain: chain.name, contract, hash: asked.transaction }, interruption())
    shown.transfer = shownTransfer(await explainTransfer(store, explanation, asked, node))
  }
  if (json) return printJson(shown)
  const print = (text: string): void => printData(fitted(text, { output: process.stdout }))
  const place = { name: chain.name, address: contract }
  const isEmpty = explanation.transfers === 0 && shown.erc20 === undefined
  if (isEmpty && (await lacksCode(loaded, place, opened))) return print(codelessText(shown))
  const isKnown = explanation.covered.length > 0 || explanation.transfers > 0
  const hints = isKnown || shown.erc20 !== undefined ? [] : await whyNothing(store, loaded, { chain, contract })
  print(described(shown, hints, store.engine === 'sqlite' ? 'file' : 'postgres'))
}

async function lacksCode(...asked: Parameters<typeof isCodeless>): Promise<boolean> {
  const openChain = await import('./open-chain.ts')
  return await openChain.isCodeless(...asked)
}

/** Nothing else holds for it: no verdict of spam, and no covered block in which it could have a transfer. */
function codelessText(shown: Shown): string {
  const { chain, contract } = shown
  return [
    `not a contract: ${chain} has no code at ${contract}, so no transfer can be indexed for it`,
    ...labelLines(shown),
    ...transferLines(shown),
    `Try: check the address and the chain; for the NFTs of a wallet, request /api/v2.2/${contract}/nft?chain=${chain}`,
  ].join('\n')
}

/** For a user who has just asked for the contract: nothing of it is indexed. */
async function whyNothing(
  store: Store,
  { config }: LoadedConfig,
  { chain, contract }: { chain: Chain; contract: Address },
): Promise<string[]> {
  const { name } = chain
  const settings = config.chains[name]!
  if (settings.index === 'full')
    return ['no block is indexed yet', `Try: ${commandLine} status, which shows how far ${name} is`]
  const watched = await store.watchedContracts(chain.id)
  if (settings.contracts.includes(contract) || watched.some(each => each.contract === contract))
    return ['requested, not indexed yet', `Try: ${commandLine} status, which shows how far ${name} is`]
  return [
    'not requested yet: the first request indexes it',
    `Try: request /api/v2.2/nft/${contract}/transfers?chain=${name}, or list it under chains.${name}.contracts`,
  ]
}

function readTransfer(text: string): AskedTransfer {
  const asked = parseAskedTransfer(text)
  if (asked !== undefined) return asked
  throw new AlmanacError('bad_request', `--transfer is ${JSON.stringify(text)}.`, {
    hint: 'pass the hash of a transaction, or hash:logIndex.',
  })
}

type Flag = { value: boolean; because: string; mark: { source: string; updated_at: string } | null }

function described(shown: Shown, [nothing, ...hints]: readonly string[], costs: keyof typeof engineCosts): string {
  const { possible_spam: spam, index, erc20 } = shown
  const called = shown.name === null && erc20 !== undefined ? erc20 : shown
  const name = called.name === null ? 'no name known' : printable(`${called.name} (${called.symbol ?? 'no symbol'})`)
  const read = shown.read_at === null ? 'never read' : `read on ${shown.read_at.slice(0, 10)}`
  const origin = shown.created_block === null ? '' : `, created in block ${countText(shown.created_block)}`
  const deployer = shown.deployer === null ? '' : ` by ${shown.deployer}`
  const declares = shown.interfaces === null ? '' : `; declares ${shown.interfaces.join(', ') || 'no interface'}`
  return [
    fitted(`${shown.contract} on ${shown.chain}: ${name}, ${read}${origin}${deployer}${declares}`, {
      output: process.stdout,
      indent: '  ',
    }),
    `possible_spam        ${spam.value}: ${spam.because === 'rules' && spam.score === null ? 'the rules have not judged it yet' : reasonText(spam)}`,
    ...(spam.score === null
      ? []
      : [
          `  score ${spam.score} of ${spam.score_needed} needed, rules version ${spam.rules_version}, judged ${spam.judged_at}`,
        ]),
    ...spam.rules.map(({ rule, weight, reason, numbers }) => {
      const facts = Object.entries(numbers).map(([fact, number]) => `${fact} ${number}`)
      return `  ${weight >= 0 ? '+' : ''}${weight} ${rule}: ${printable(`${reason ?? ''} (${facts.join(', ')})`)}`
    }),
    `verified_collection  ${shown.verified_collection.value}: ${reasonText(shown.verified_collection)}`,
    ...(shown.labels.length === 0 ? ['label                none'] : []),
    ...labelLines(shown),
    `index                ${nothing ?? countOf(index.transfers, 'transfer')}; head ${blockText(index.head)}, final ${blockText(index.finalized)}`,
    ...hints.map(hint => `  ${hint}`),
    ...((index.impossible_sums ?? 0) === 0
      ? []
      : [
          `  ${countText(index.impossible_sums!)} sums of what a wallet received and gave of a token are below zero: it is not shown as a holder`,
        ]),
    ...coveredLines(index),
    ...tokenLines(shown, costs),
    ...transferLines(shown),
  ].join('\n')
}

function coveredLines({ covered }: Pick<Shown['index'], 'covered'>): string[] {
  return covered.map(({ from, to, evidence }) =>
    from === to
      ? `  block ${countText(from)} is covered: ${evidence}`
      : `  blocks ${countText(from)} to ${countText(to)} are covered: ${evidence}`,
  )
}

function tokenLines({ erc20 }: Shown, engine: keyof typeof engineCosts): string[] {
  if (erc20 === undefined) return []
  const { transfers, head, finalized, decimals, estimate } = erc20
  const digits = decimals === null ? '' : `, ${countOf(decimals, 'decimal')}`
  return [
    `erc20                ${countOf(transfers, 'transfer')}${digits}; head ${blockText(head)}, final ${blockText(finalized)}`,
    ...coveredLines(erc20),
    ...(estimate === null ? [] : estimateLines(estimate, engine)),
  ]
}

type Estimate = NonNullable<NonNullable<Shown['erc20']>['estimate']>

function estimateLines({ transfers, seconds, targets, held }: Estimate, engine: keyof typeof engineCosts): string[] {
  const { transfer, indexes } = engineCosts[engine]
  const bytes = bytesText(transfers * (transfer + indexes.by_wallet + indexes.by_token))
  const rest = `reading the rest takes about ${durationText(seconds)} and counts as ${countOf(targets, 'target')} of a key`
  return [
    `  about ${countText(transfers)} transfers in all, some ${bytes}: ${rest}`,
    ...(held
      ? [
          `  no key that asked may have ${countText(targets)} indexed a day, so older transfers are not read`,
          `  Try: ask for it once with a key that may: ${commandLine} keys limit <id> --index <number>`,
        ]
      : []),
  ]
}

function labelLines({ labels }: Shown): string[] {
  return labels.map(
    ({ label, rank, source, chain, updated_at, shown: wins }) =>
      `label                ${printable(label)}: ${rank}, from ${printable(source)}, ${chain ?? 'every chain'}, ${updated_at.slice(0, 10)}${wins ? ' (shown)' : ''}`,
  )
}

function transferLines({ transfer }: Shown): string[] {
  if (transfer === undefined) return []
  const { verdict, because, node } = transfer
  return [
    `transfer             ${verdict}: ${because}`,
    ...(node == null ? [] : [`  asked ${node.endpoint}: block ${countText(node.block)}${receiptsText(node)}`]),
  ]
}

function blockText(block: number | null): string {
  return block === null ? 'unknown' : countText(block)
}

function receiptsText({ receipts }: NonNullable<NonNullable<Shown['transfer']>['node']>): string {
  if (receipts === undefined) return ''
  return { raw: '; gives receipts as bytes', json: '; gives receipts as JSON', logs: '; gives logs alone' }[receipts]
}

function reasonText({ because, mark }: Flag): string {
  const [source, day] = [printable(mark?.source ?? ''), mark?.updated_at.slice(0, 10)]
  const reasons: Readonly<Record<string, string>> = {
    pin: `pinned by the operator on ${day}`,
    list: `the list ${source} says so, ${day}`,
    pack: `the pack ${source} says so, ${day}`,
    rules: 'the rules say so',
    verified: 'a verified collection does not count as spam',
  }
  return reasons[because] ?? 'no pin, list or rule applies'
}
