// The wallet chains operation over HTTP. The rules are in `query/wallet-chains.ts`.
import type { ChainTable } from '../../chains.ts'
import type { Admission } from '../../keys/gatekeeper.ts'
import type { TransactionRef } from '../../model.ts'
import { claimedIf } from '../../query/claims.ts'
import { WalletChains, type WalletChainsAnswer } from '../../query/wallet-chains.ts'
import type { Handler } from '../answer.ts'
import { completenessHeaders, headerName, readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import { timestampMax } from '../json-bytes.ts'
import { dataErrors, incompleteChains, indexHeaders, inPath, inQueryList, jsonSuccess } from '../openapi-parts.ts'
import { freshenWaitMsOf, perform, ReplicaReads } from '../operation.ts'
import { addressParameter, chainParameter, type Dialect, dialectOf, QueryText, readParameter } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import type { RouteParts } from '../responder.ts'

export const walletChains: RouteParts = {
  answer: answerWalletChains,
  document: ({ chains: table }, version) => {
    const parameters = walletParameters(table)
    return {
      id: version === 'v2' ? 'getWalletActiveChains' : 'getWalletActiveChainsV22',
      tag: 'EVM',
      summary: 'Active chains of a wallet',
      description:
        'The chains on which a wallet was active, with its first and its last transaction on each. Use it to find where a wallet has something before asking chain by chain. What it sent, received or created counts, and every transfer of a token to or from it. Chains come in the order of `chains`; `X-Index-Incomplete-Chains` names those whose history is not complete.',
      parameters: [inPath(parameters.address), inQueryList(parameters.chains)],
      answers: {
        200: jsonSuccess('WalletChains', 'The first and last transaction on each chain.', {
          ...indexHeaders,
          ...incompleteChains,
        }),
      },
      errors: dataErrors,
    }
  },
}

export function walletParameters(table: ChainTable) {
  return {
    address: addressParameter('Address of the wallet.', '0x26fcbd3afebbe28d0a8684f790c48368d21665b5'),
    chains: {
      ...chainParameter('chains', table, ''),
      description:
        'Chains, by name or hex id. Defaults to every indexed or configured chain. Written as `chains[]=eth&chains[]=0x89`, ' +
        '`chains[0]=eth`, `chains=eth&chains=polygon` or `chains=eth,polygon`.',
      example: ['eth', '0x89'],
    },
  }
}

function answerWalletChains(context: Context): Handler {
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
      headers: {
        ...completenessHeaders(claimedIf(answer.incomplete.length === 0, { ...answer, complete: true }), dialect),
        ...lacking(answer),
      },
      body: Buffer.from(JSON.stringify(bodyOf(answer, dialect))) as Buffer<ArrayBuffer>,
    })
    return { ready, keep: isFinal(answer) }
  }

  return request => {
    const dialect = dialectOf(request, settings.dialect)
    return perform(context, request, {
      about: 'several',
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

function lacking({ incomplete }: WalletChainsAnswer): Record<string, string> {
  return incomplete.length === 0 ? {} : { 'X-Index-Incomplete-Chains': incomplete.map(headerName).join(', ') }
}
