// The wallet chains operation over HTTP. The rules are in `query/wallet-chains.ts`.
import type { Chain } from '../chains.ts'
import type { TransactionRef } from '../model.ts'
import { WalletChains, type WalletChainsAnswer } from '../query/wallet-chains.ts'
import type { Answer } from './answer.ts'
import { readyAnswer } from './answer-cache.ts'
import type { Exchange } from './exchange.ts'
import { timestampMax } from './json-bytes.ts'
import { ReplicaReads } from './nft-transfers.ts'
import { patienceMs, perform, type Workplace } from './operation.ts'
import {
  type ApiVersion,
  type Dialect,
  pickDialect,
  platformHeader,
  readParameter,
  walletParameters,
} from './params.ts'
import { QueryText } from './query-text.ts'

export class WalletChainsRoute {
  readonly #place: Workplace
  readonly #parameters: ReturnType<typeof walletParameters>
  readonly #wallets: WalletChains
  readonly #copies: ReplicaReads<WalletChains>

  constructor(place: Workplace) {
    this.#place = place
    this.#parameters = walletParameters(place.chains)
    this.#wallets = new WalletChains(place.store, place.chains)
    this.#copies = new ReplicaReads(place.replica, store => new WalletChains(store, place.chains))
  }

  answer(exchange: Exchange, version: ApiVersion): Answer | Promise<Answer> {
    const { freshen, settings } = this.#place
    const dialect = pickDialect({
      setting: settings.dialect,
      version,
      hasPlatformHeader: exchange.header(platformHeader) !== undefined,
    })
    return perform(this.#place, exchange, {
      scope: 'wallet-chains',
      cacheKey: () => dialect,
      work: async (_, admission) => {
        const wallet = readParameter(this.#parameters.address, exchange.pathParameter('address'))
        const chains = new QueryText(exchange.query).list(this.#parameters.chains)
        const options = { key: admission.key, freshen, freshenWaitMs: patienceMs(exchange, settings) }
        const fromCopy = await this.#copies.answer(
          copy => copy.answer({ wallet, chains }, { ...options, freshen: undefined }),
          // What indexers could complete is left to the store, where their work shows at once.
          ({ incomplete }) => incomplete.length === 0 || freshen?.wallet === undefined,
        )
        const answer = fromCopy ?? (await this.#wallets.answer({ wallet, chains }, options))
        const ready = readyAnswer({
          headers: { 'X-Dialect': dialect, ...completenessHeaders(answer.incomplete) },
          body: Buffer.from(JSON.stringify(bodyOf(answer, dialect))) as Buffer<ArrayBuffer>,
        })
        return { ready, keep: answer.incomplete.length === 0 || freshen?.wallet === undefined }
      },
    })
  }
}

function bodyOf({ wallet, chains }: WalletChainsAnswer, dialect: Dialect) {
  // Asked chains without activity stay in the live dialect, with nulls; the reference lists active ones.
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
  // A name that an operator chose may not fit into a header; the id always does.
  const names = incomplete.map(({ name, hexId }) => (/^[\x21-\x2b\x2d-\x7e ]+$/.test(name) ? name : hexId))
  return { 'X-Index-Complete': 'false', 'X-Index-Incomplete-Chains': names.join(', ') }
}
