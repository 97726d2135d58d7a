// Which changes are asked for: the parameters of those who ask once, and of webhooks. It reads no changes.
import { z } from 'zod'
import type { ChainTable } from '../../../chains.ts'
import { AlmanacError } from '../../../errors.ts'
import { type Ledger, ledgerId, ledgerNames } from '../../../ledgers.ts'
import { parseAddress, zeroAddress } from '../../../model.ts'
import {
  type ChangeFilter,
  type ChangePosition,
  type PositionSigner,
  positionLengthMax,
} from '../../../query/changes/position.ts'
import type { IndexingKey } from '../../../query/freshen.ts'
import type { Context } from '../../context.ts'
import {
  chainParameter,
  choiceParameter,
  missing,
  type Parameter,
  type QueryText,
  unacceptable,
  wholeParameter,
} from '../../params.ts'
import { tokenIdParameter } from '../evm-parameters.ts'
import { kindOf } from './change-json.ts'

/** Of a page, and of a batch of a webhook. */
export const changesMax = 100
const waitMaxSeconds = 30

function contractOrWallet(name: string, description: string, example: string) {
  return {
    name,
    read: parseAddress,
    accepts: '0x and 40 hex digits, in any case',
    schema: z.string().regex(/^0[xX][0-9a-fA-F]{40}$/),
    ...{ description, example },
  } satisfies Parameter<unknown>
}

export const kinds = ledgerNames.map(ledger => kindOf[ledger])

export type ChangeParameters = ReturnType<typeof changeParameters>

export function changeParameters(table: ChainTable) {
  return {
    chain: chainParameter('chain', table, 'Chain, by name or hex id. Required.'),
    contract: contractOrWallet('contract', 'Changes of this contract.', '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'),
    wallet: contractOrWallet(
      'wallet',
      'Transfers to and from this wallet. On a chain that is indexed on demand it needs `contract`.',
      '0x8ae57a027c63fca8070d1bf38622321de8004c67',
    ),
    tokenId: { ...tokenIdParameter, description: 'Transfers of this token of `contract`.' },
    kinds: {
      name: 'kinds',
      read: text => ledgerNames.find(ledger => kindOf[ledger] === text.trim().toLowerCase()),
      accepts: kinds.join(' or '),
      schema: z.enum(kinds as [string, ...string[]]),
      description: `What is told: \`${kinds.join('` and `')}\`. Defaults to \`${kindOf.nft}\`.`,
      example: [kindOf.nft],
    } satisfies Parameter<Ledger>,
    finality: choiceParameter('finality', ['seen', 'final'], {
      default: 'seen',
      description: '`final` tells final transfers alone, which are never retracted.',
    }),
    after: {
      name: 'after',
      read: text => (text.length <= positionLengthMax ? text : undefined),
      accepts: 'the next of an earlier answer',
      schema: z.string().max(positionLengthMax),
      description: 'Position to go on from: `next` of an earlier answer. Without it and `from_block`: from now on.',
      example: 'WzEsIm1SS2x…',
    } satisfies Parameter<string>,
    fromBlock: wholeParameter('from_block', {
      min: 0,
      description: 'Instead of `after`: everything from this block on that is indexed, then what comes.',
      example: 16_220_200,
    }),
    limit: wholeParameter('limit', {
      ...{ min: 1, max: changesMax, default: changesMax, example: 5 },
      description: `Changes of a page, at most ${changesMax}: higher values become ${changesMax}.`,
    }),
    wait: wholeParameter('wait', {
      ...{ min: 0, max: waitMaxSeconds, default: 0, example: 0 },
      description: `Seconds to wait for a first change, at most ${waitMaxSeconds}.`,
    }),
  } satisfies Record<string, Parameter<unknown>>
}

/** What all of those say that are told of changes. */
export async function readFilter(
  context: Pick<Context, 'indexModes'>,
  parameters: Omit<ChangeParameters, 'limit' | 'wait'>,
  query: QueryText,
): Promise<ChangeFilter> {
  const chain = query.optional(parameters.chain)
  if (chain === undefined) throw missing(parameters.chain.name, parameters.chain.accepts)
  const contract = query.optional(parameters.contract)
  const wallet = query.optional(parameters.wallet)
  const tokenId = query.optional(parameters.tokenId)
  const ledgers = ledgerNames.filter(each => (query.list(parameters.kinds) ?? ['nft']).includes(each))
  if (tokenId !== undefined && contract === undefined) throw missing('contract', 'the contract of token_id')
  if (tokenId !== undefined && ledgers.includes('erc20')) throw unacceptable('kinds', 'nft_transfer with token_id')
  if (wallet === zeroAddress) throw unacceptable('wallet', 'a wallet; transfers of the zero address are not kept')
  if (contract === undefined) await requireEvery(context, chain.name, ledgers)
  return {
    ...{ contract, wallet, tokenId },
    ledgers: ledgers.map(ledger => ledgerId(chain.id, ledger)),
    finalOnly: query.optional(parameters.finality) === 'final',
  }
}

/** On demand only contracts that were requested are there, so nothing tells when a block is complete. */
async function requireEvery(
  context: Pick<Context, 'indexModes'>,
  chain: string,
  ledgers: readonly Ledger[],
): Promise<void> {
  const modes = await context.indexModes().catch(() => undefined)
  const onDemand = ledgers.find(ledger => {
    const mode = modes?.[chain]?.[ledger]
    return ledger === 'erc20' ? modes !== undefined && mode !== 'full' : mode === 'on-demand'
  })
  if (onDemand === undefined) return
  const what = onDemand === 'erc20' ? 'The ERC-20 tokens of' : 'The contracts of'
  throw new AlmanacError('bad_request', `${what} ${chain} are indexed on demand: name one as contract`, {
    details: { parameter: 'contract', accepted: 'the address of a contract' },
  })
}

export function openedPosition(positions: PositionSigner, filter: ChangeFilter, text: string): ChangePosition {
  const position = positions.open(filter, text)
  const accepted = 'the next of an earlier answer to the same question'
  if (position === 'other question')
    throw new AlmanacError('bad_request', 'after is of another chain or of other filters', {
      details: { parameter: 'after', accepted },
    })
  if (position === undefined) throw unacceptable('after', accepted)
  return position
}

/** Blocks that a contract may lag behind the head and still is followed. */
const followedMax = 64

/** Starts the indexing of a contract on demand, under the limits of the key, and keeps it from being let go. */
export async function followContract(
  { freshen, claims }: Pick<Context, 'freshen' | 'claims'>,
  { contract, ledgers }: ChangeFilter,
  key: IndexingKey,
): Promise<void> {
  if (contract === undefined || freshen === undefined) return
  for (const ledger of ledgers) {
    freshen.asked?.(ledger, contract)
    const { chain, each } = await claims.views(ledger, contract)
    const head = chain.state?.head.number ?? Number.POSITIVE_INFINITY
    const isFollowed = each[0]!.coverage.some(({ from, to }) => from <= head && to >= head - followedMax)
    if (!isFollowed) await freshen.contract?.(ledger, contract, 0, key)
  }
}
