// Freshening by other processes: asks one that indexes for what cannot be answered fully here.
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import { AlmanacError } from '../errors.ts'
import type { AskedCalls, ChainId, NodeCalls, SolanaNetwork } from '../model.ts'
import type { Freshen, IndexingKey, IndexingLimits } from '../query/freshen.ts'
import type { Store } from '../store/store.ts'
import type { Reports } from './heartbeat.ts'
import {
  callWork,
  evmTopic,
  nodesTopic,
  RemoteWork,
  solanaTopic,
  tokenUriWork,
  type Work,
  type WorkOutcome,
  type WorkResult,
  walletsTopic,
} from './remote-work.ts'

/** Without a reading there is no answer, so it is waited for longer than what is only partly missing. */
const readingWaitMs = 10_000
/** No request waits as long; the reading goes on for the next one. */
const tokenUrisWaitMs = 10_000

export function remoteFreshen(store: Store, reports: Reports, limits: IndexingLimits): Required<Freshen> {
  const remote = new RemoteWork(store)
  return {
    asked: askedNoter(store),
    async contract(chain, contract, waitMs, key) {
      if (!(await reports.serves(evmTopic(chain)))) return
      if (!(await limits.contract(key, chain, contract))) return
      const result = await askQuietly(remote, { kind: 'contract', chain, contract, asker: key }, waitMs)
      if (result !== undefined && 'error' in result) await limits.refused(result.error, key, { chain, contract })
    },
    async wallet(chains, wallet, waitMs, key) {
      const served: ChainId[] = []
      for (const chain of chains) if (await reports.serves(walletsTopic(chain))) served.push(chain)
      if (served.length === 0 || !(await limits.wallet(key, wallet))) return
      await Promise.all(served.map(chain => askQuietly(remote, { kind: 'wallet', chain, wallet, asker: key }, waitMs)))
    },
    async balances(asked, key) {
      const { chain } = asked
      if (!(await reports.serves(nodesTopic(chain)))) throw noNode(chain)
      await limits.balances(key, asked)
      const { balances } = outcomeOf(await remote.ask({ kind: 'balances', ...asked, asker: key }, readingWaitMs))
      // A process of an earlier version does not know this work.
      if (balances === undefined) throw noNode(chain)
      return balances
    },
    async calls(asked, key) {
      if (!(await reports.serves(nodesTopic(asked.chain)))) throw noNode(asked.chain)
      await limits.balances(key, { ...asked, wallets: asked.about })
      return await askCalls(remote, asked, key)
    },
    async block(chain, block, key) {
      if (!(await reports.serves(nodesTopic(chain)))) throw noNode(chain)
      const { block: found } = outcomeOf(await remote.ask({ kind: 'block', chain, block, asker: key }, readingWaitMs))
      // A process of an earlier version does not know this work.
      if (found === undefined) throw noNode(chain)
      return found ?? undefined
    },
    async nonce(asked, key) {
      const { chain, wallet } = asked
      if (!(await reports.serves(nodesTopic(chain)))) throw noNode(chain)
      await limits.balances(key, { wallets: [wallet] })
      const { nonce } = outcomeOf(await remote.ask({ kind: 'nonce', ...asked, asker: key }, readingWaitMs))
      if (nonce === undefined) throw noNode(chain)
      return nonce
    },
    async tokenUris(chain, tokens) {
      if (!(await reports.serves(nodesTopic(chain)))) return
      await Promise.all(tokenUriWork(chain, tokens).map(work => askQuietly(remote, work, tokenUrisWaitMs)))
    },
    async portfolio(network, owner, key) {
      if (!(await reports.serves(solanaTopic(network)))) {
        if ((await store.portfolioOf(network, owner)) !== undefined) return undefined
        throw await noReader(network, reports)
      }
      const read = () => remote.ask({ kind: 'portfolio', network, owner }, readingWaitMs)
      return outcomeOf(await limits.owner(key, { network, owner }, read)).freshness
    },
    async mint(network, mint, key) {
      if (!(await reports.serves(solanaTopic(network)))) throw await noReader(network, reports)
      const read = () => remote.ask({ kind: 'mint', network, mint }, readingWaitMs)
      const { mint: reading } = outcomeOf(await limits.mint(key, { network, mint }, read))
      // A process of an earlier version does not know this work.
      if (reading === undefined) throw await noReader(network, reports)
      return reading
    },
  }
}

/** Many calls are asked for in parts, which must be of one block. */
async function askCalls(remote: RemoteWork, asked: AskedCalls, key: IndexingKey): Promise<NodeCalls> {
  const ask = async (work: Work): Promise<NodeCalls> => {
    const { calls } = outcomeOf(await remote.ask(work, readingWaitMs))
    // A process of an earlier version does not know this work.
    if (calls === undefined) throw noNode(asked.chain)
    return calls
  }
  const [first, ...others] = callWork(asked, key)
  const { block, hash, results } = await ask(first)
  const further = others.length === 0 ? [] : callWork({ ...asked, block }, key).slice(1)
  const parts = await Promise.all(further.map(ask))
  if (parts.some(part => part.hash !== hash))
    throw new AlmanacError('upstream_failed', `Nodes of chain ${asked.chain} have different blocks ${block}.`, {
      retryable: true,
    })
  return { block, hash, results: [...results, ...parts.flatMap(part => part.results)] }
}

function noNode(chain: ChainId): AlmanacError {
  return new AlmanacError(
    'not_configured',
    `No process with a node of chain ${chain} runs: one needs its rpc under chains and a start without --only api.`,
  )
}

async function noReader(network: SolanaNetwork, reports: Reports): Promise<AlmanacError> {
  const other = network === 'mainnet' ? 'devnet' : 'mainnet'
  const isOtherRead = await reports.serves(solanaTopic(other))
  return new AlmanacError(
    'not_configured',
    `No process reads accounts of Solana ${network}${isOtherRead ? ` (configured: ${other})` : ''}: one needs solana.${network}.rpc and a start without --only api.`,
  )
}

function outcomeOf(result: WorkResult | undefined): WorkOutcome {
  if (result === undefined)
    throw new AlmanacError('timeout', `No node answered within ${readingWaitMs / 1_000} s.`, {
      retryable: true,
    })
  if ('error' in result) throw result.error
  return result
}

const dayMs = 86_400_000
const notedMax = 50_000

/** Notes that a contract was asked for, once a day, so that what is no longer asked for can be let go. */
export function askedNoter(store: Pick<Store, 'watchContract'>): Required<Freshen>['asked'] {
  const noted = new LRUCache<string, number>(atMost(notedMax))
  let isWriting = false
  return (chain, contract) => {
    const day = Math.floor(Date.now() / dayMs)
    const name = `${chain}/${contract}`
    // One at a time: where a write hangs, as on a worker that does, others must not take the connections of readers.
    // A note that was not written is written with the next request.
    if (isWriting || noted.get(name) === day) return
    isWriting = true
    noted.set(name, day)
    store
      .watchContract(chain, contract, { askedOn: day })
      .catch(() => noted.delete(name))
      .finally(() => {
        isWriting = false
      })
  }
}

/** Without help the store still answers, and the answer says that it is not complete. */
async function askQuietly(remote: RemoteWork, work: Work, waitMs: number): Promise<WorkResult | undefined> {
  try {
    return await remote.ask(work, waitMs)
  } catch (error) {
    // A failure of the store shows in the next answer read from it.
    if (!(error instanceof AlmanacError)) throw error
    return undefined
  }
}
