// The wallet chains operation over HTTP. The rules are in `query/wallet-chains.ts`.
import type { Chain } from '../chains.ts'
import type { Admission } from '../keys/gatekeeper.ts'
import type { TransactionRef } from '../model.ts'
import { WalletChains, type WalletChainsAnswer } from '../query/wallet-chains.ts'
import { readyAnswer } from './answer.ts'
import type { Context } from './context.ts'
import { timestampMax } from './json-bytes.ts'
import { ReplicaReads } from './nft-transfers.ts'
import {
  type DocumentOptions,
  dataErrors,
  indexHeaders,
  inPath,
  inQueryList,
  type Json,
  jsonSuccess,
  operation,
} from './openapi-parts.ts'
import { freshenWaitMsOf, perform } from './operation.ts'
import { type ApiVersion, type Dialect, dialectOf, QueryText, readParameter, walletParameters } from './params.ts'
import type { ApiRequest } from './request.ts'
import type { Handler } from './responder.ts'

export function answerWalletChains(context: Context): Handler {
  const { settings, freshen, store, chains: table, replica } = context
  const parameters = walletParameters(table)
  const wallets = new WalletChains(store, table)
  const copies = new ReplicaReads(replica, copy => new WalletChains(copy, table))

  async function work(request: ApiRequest, dialect: Dialect, { key }: Admission) {
    const wallet = readParameter(parameters.address, request.pathParameter('address'))
    const chains = new QueryText(request.query).list(parameters.chains)
    const options = { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings) }
    // What indexers could complete is left to the store, where their work shows at once, and is not kept.
    const isFinal = ({ incomplete }: WalletChainsAnswer) => incomplete.length === 0 || freshen?.wallet === undefined
    const fromCopy = await copies.answer(
      copy => copy.answer({ wallet, chains }, { ...options, freshen: undefined }),
      isFinal,
    )
    const answer = fromCopy ?? (await wallets.answer({ wallet, chains }, options))
    const ready = readyAnswer({
      headers: { 'X-Dialect': dialect, ...completenessHeaders(answer.incomplete) },
      body: Buffer.from(JSON.stringify(bodyOf(answer, dialect))) as Buffer<ArrayBuffer>,
    })
    return { ready, keep: isFinal(answer) }
  }

  return request => {
    const dialect = dialectOf(request, settings.dialect)
    return perform(context, request, {
      scope: 'wallet-chains',
      cacheKey: dialect,
      work: admission => work(request, dialect, admission),
    })
  }
}

function bodyOf({ wallet, chains }: WalletChainsAnswer, dialect: Dialect) {
  // The live dialect shows requested chains without activity, with nulls; the reference lists active ones only.
  const shown = dialect === 'live' ? chains : chains.filter(({ activity }) => activity !== undefined)
  return {
    address: wallet,
    active_chains: shown.map(({ chain, activity }) => ({
      chain: chain.name,
      chain_id: chain.hexId,
      first_transaction: activity === undefined ? null : transactionOf(activity.first),
      last_transaction: activity === undefined ? null : transactionOf(activity.last),
    })),
  }
}

function transactionOf({ block, hash, timestamp }: TransactionRef) {
  return {
    block_timestamp: new Date(Math.min(timestamp, timestampMax) * 1_000).toISOString(),
    block_number: `${block}`,
    transaction_hash: hash,
  }
}

function completenessHeaders(incomplete: readonly Chain[]): Record<string, string> {
  if (incomplete.length === 0) return { 'X-Index-Complete': 'true' }
  // A name that an operator chose may not fit into a header. The id always does.
  const names = incomplete.map(({ name, hexId }) => (/^[\x21-\x2b\x2d-\x7e ]+$/.test(name) ? name : hexId))
  return { 'X-Index-Complete': 'false', 'X-Index-Incomplete-Chains': names.join(', ') }
}

export function walletChainsDocument({ chains }: DocumentOptions, version: ApiVersion): Json {
  const parameters = walletParameters(chains)
  return operation({
    id: version === 'v2' ? 'getWalletActiveChains' : 'getWalletActiveChainsV22',
    tag: 'EVM',
    summary: 'Chains on which a wallet is active',
    parameters: [inPath(parameters.address), inQueryList(parameters.chains)],
    answers: {
      200: jsonSuccess('WalletChains', 'The first and last transaction on each chain.', examples, indexHeaders),
    },
    errors: dataErrors,
  })
}

const activeChain = {
  chain: 'eth',
  chain_id: '0x1',
  first_transaction: {
    block_timestamp: '2015-09-28T08:24:43.000Z',
    block_number: '302086',
    transaction_hash: '0x9b629147b75dc0b275d478fa34d97c5d4a26926457540b15a5ce871df36c23fd',
  },
  last_transaction: {
    block_timestamp: '2023-07-18T22:00:59.000Z',
    block_number: '17722945',
    transaction_hash: '0xde35a4e5a5a9a1a2a0d7e2f9ea1d8e6f1e1ab0a5f0c7b8a94b0f32b4c1f293e4',
  },
}
const idleChain = { chain: 'polygon', chain_id: '0x89', first_transaction: null, last_transaction: null }
const address = '0x26fcbd3afebbe28d0a8684f790c48368d21665b5'
const examples = {
  reference: { address, active_chains: [activeChain] },
  live: { address, active_chains: [activeChain, idleChain] },
}
