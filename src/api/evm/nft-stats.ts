// Counts of what there is over HTTP: of a collection, a token, a wallet, a block. `query/holdings/` has the rules.
import { AlmanacError } from '../../errors.ts'
import { ledgerId } from '../../ledgers.ts'
import type { Address, ChainId } from '../../model.ts'
import { firstPage } from '../../query/cursor.ts'
import type { IndexingKey } from '../../query/freshen.ts'
import { IndexTransfers } from '../../query/index-transfers.ts'
import { blockAsker } from '../../query/lookups/date-to-block.ts'
import { blockNumberOf } from '../../query/lookups/find-block.ts'
import {
  chainErrors,
  type ExampleName,
  inPath,
  inQuery,
  jsonSuccess,
  nodeErrors,
  stateHeaders,
} from '../openapi-parts.ts'
import { type Parameter, QueryText, readParameter } from '../params.ts'
import type { RouteParts } from '../responder.ts'
import { blockParameter } from './evm-parameters.ts'
import {
  asOfParameters,
  documented,
  type HoldingParameters,
  holdingParameters,
  readAtBlock,
} from './holding-parameters.ts'
import { type AskedHolding, type HoldingAnswer, holdingAnswer } from './holdings-context.ts'

type Asked = AskedHolding & { chain: ChainId; atBlock: number | undefined }

type Stats = {
  id: string
  summary: string
  description: string
  schema: ExampleName
  path: (parameters: HoldingParameters) => Parameter<unknown>[]
  /** The state after a block can be asked for. */
  hasPast: boolean
  /** It counts NFTs of all contracts. */
  everyContract?: true
  ask: (asked: Asked) => Promise<HoldingAnswer>
}

/** Undefined where no node says it: an answer without it is better than none. */
async function told<T>(answer: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof AlmanacError) return undefined
    throw error
  }
}

const total = (count: number | undefined) => ({ total: count === undefined ? null : `${count}` })

export const collectionStats = statsRoute({
  ...{ id: 'getNFTCollectionStats', summary: 'Collection stats', schema: 'CollectionStats', hasPast: true },
  description:
    'How many tokens and owners a contract has now, burned tokens left out, and how many transfers it had. Use it instead of counting a list.',
  path: ({ address }) => [address],
  ask: async ({ context, request, parameters, chain, atBlock, options }) => {
    const contract = readParameter(parameters.address, request.pathParameter('address'))
    const answer = await context.holdings.collectionStats({ chain, atBlock, contract }, options)
    const { tokens, owners, transfers } = answer
    const shown = { total_tokens: `${tokens}`, owners: { current: `${owners}` }, transfers: total(transfers) }
    return { ...answer, shown }
  },
})

export const tokenStats = statsRoute({
  ...{ id: 'getNFTTokenStats', summary: 'NFT stats', schema: 'TokenStats', hasPast: true },
  description: 'How many wallets own one token, and how often it moved.',
  path: ({ address, tokenId }) => [address, tokenId],
  ask: async ({ context, request, parameters, chain, atBlock, options }) => {
    const contract = readParameter(parameters.address, request.pathParameter('address'))
    const tokenId = readParameter(parameters.tokenId, request.pathParameter('token_id'))
    const answer = await context.holdings.tokenStats({ chain, atBlock, contract, tokenId }, options)
    return { ...answer, shown: { owners: { current: `${answer.owners}` }, transfers: total(answer.transfers) } }
  },
})

export const walletStats = statsRoute({
  ...{ id: 'getWalletStats', summary: 'Wallet stats', schema: 'WalletStats', hasPast: false, everyContract: true },
  description:
    'How many NFTs and collections a wallet owns, and how many transfers and transactions it has. NFTs are distinct tokens. Transactions are those that the wallet sent, as a node says; null where no node does. ERC-20 transfers are counted where the chain keeps every token, and null elsewhere.',
  path: ({ wallet }) => [wallet],
  ask: async ({ context, request, parameters, chain, atBlock, options }) => {
    const wallet = readParameter(parameters.wallet, request.pathParameter('address'))
    const answer = await context.holdings.walletStats({ chain, atBlock, wallet }, options)
    const { nfts, collections, transfers, block } = answer
    const { freshen, key } = options
    const nonce = block < 0 ? undefined : await told(freshen?.nonce?.({ chain, wallet, block }, key))
    const shown = {
      ...{ nfts: `${nfts}`, collections: `${collections}`, transactions: total(nonce) },
      nft_transfers: total(transfers),
      token_transfers: total(await tokenTransfers(context, { chain, wallet, block, key })),
    }
    return { ...answer, shown, isTold: nonce !== undefined || freshen?.nonce === undefined }
  },
})

/** Undefined where the index does not have those of every token, or they are more than one request counts. */
async function tokenTransfers(
  { store, claims, contracts, labels }: AskedHolding['context'],
  { chain, wallet, block, key }: { chain: ChainId; wallet: Address; block: number; key: IndexingKey },
): Promise<number | undefined> {
  const page = {
    ...firstPage,
    list: 'wallet-erc20-transfers',
    subject: wallet.slice(2),
    limit: 1,
    countTotal: true,
  } as const
  const of = { list: 'wallet-transfers', wallet, direction: 'both', contracts: [] } as const
  const question = { ...page, of, chain: ledgerId(chain, 'erc20'), toBlock: block }
  const transfers = new IndexTransfers(store, { claims, contracts, labels })
  const { total, complete } = await transfers.answer(question, { key, freshen: undefined, freshenWaitMs: 0 })
  return complete ? total : undefined
}

export const blockStats = statsRoute({
  ...{ id: 'getBlockStats', summary: 'Block stats', schema: 'BlockStats', hasPast: false, everyContract: true },
  description:
    'How many transactions and NFT transfers a block has. Transactions are as a node says; null where no node does. ERC-20 transfers are not kept by block, so their count is null. 404 for a block that the chain does not have.',
  path: () => [blockParameter],
  ask: async ({ context, request, chain, options }) => {
    const named = readParameter(blockParameter, request.pathParameter('block_number_or_hash'))
    const askBlock = blockAsker(options.freshen?.block, options.key)
    const block = await blockNumberOf(context.store, chain, named, askBlock)
    const answer = block === undefined ? undefined : await context.holdings.blockStats({ chain, block }, options)
    if (answer === undefined || !answer.exists) throw noSuchBlock()
    const node = await told(askBlock?.(chain, answer.block))
    const shown = {
      transactions: total(node?.transactions),
      nft_transfers: total(answer.transfers),
      token_transfers: total(undefined),
    }
    return { ...answer, shown, isTold: node !== undefined || askBlock === undefined }
  },
})

function noSuchBlock(): AlmanacError {
  return new AlmanacError('not_found', 'The chain has no such block')
}

function statsRoute({ id, summary, description, schema, path, hasPast, everyContract, ask }: Stats): RouteParts {
  return {
    answer: holdingAnswer(
      async asked => {
        const { context, request, parameters } = asked
        const query = new QueryText(request.query)
        const chain = (query.optional(parameters.chain) ?? context.chains.usual).id
        const atBlock = hasPast
          ? await readAtBlock(query, parameters, context, { chain, key: asked.options.key })
          : undefined
        return await ask({ ...asked, chain, atBlock })
      },
      { everyContract },
    ),
    document: ({ chains, pageSizeMax }, version) => {
      const parameters = holdingParameters(chains, pageSizeMax)
      return {
        id: version === 'v2' ? id : `${id}V22`,
        tag: 'EVM',
        summary,
        description,
        parameters: [
          ...path(parameters).map(inPath),
          inQuery(parameters.chain),
          ...(hasPast ? documented(parameters, asOfParameters) : []),
        ],
        answers: { 200: jsonSuccess(schema, 'Counts as texts; null where nothing is indexed.', stateHeaders) },
        errors: [...chainErrors, ...(id === 'getBlockStats' ? (['not_found'] as const) : []), ...nodeErrors],
        failures: [noSuchBlock()],
      }
    },
  }
}
