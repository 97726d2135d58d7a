// Starts local chains with made-up collections, tokens, wallets and traffic. It knows nothing of the service that
// indexes them.
import { setTimeout as delay } from 'node:timers/promises'
import { collectionsAreReady, loadCollections } from './collections.ts'
import { Draws } from './draws.ts'
import { coinNames } from './evm-coin.ts'
import type { Kind } from './evm-collections.ts'
import { EvmNetwork } from './evm-network.ts'
import { edrPackage } from './evm-node.ts'
import { EvmWorld, type EvmWorldOptions } from './evm-world.ts'
import { whyNoneLoads } from './installed.ts'
import type { NodeNews } from './node-news.ts'
import { SolanaNetwork } from './solana-network.ts'
import { litesvmPackage } from './solana-node.ts'

export type SandboxChain = {
  name: string
  id: number
  index: 'full' | 'on-demand'
  url: string
  collections: readonly { kind: Kind; name: string; address: string }[]
  /** An ERC-20 token. */
  coin: { name: string; symbol: string; address: string }
}

export type Sandbox = {
  chains: readonly SandboxChain[]
  /** The EVM wallets that hold tokens. */
  wallets: readonly string[]
  solana: { rpcUrl: string; wsUrl: string; wallets: readonly string[] } | undefined
  /** Why EVM or Solana is missing, in whole sentences. */
  missing: readonly string[]
  /** Begins the traffic. A failure ends the traffic of its chain and is reported once. */
  begin(report: (news: SandboxNews) => void): void
  stop(): Promise<void>
}

export type SandboxNews = { chain: string } & (NodeNews | { event: 'traffic stopped'; reason: string })

const chainTable = [
  { name: 'eth', id: 1, index: 'full', kinds: ['ERC721', 'ERC721A', 'ERC1155', 'airdrop'] },
  { name: 'polygon', id: 137, index: 'full', kinds: ['ERC1155', 'ERC721'] },
  { name: 'base', id: 8_453, index: 'on-demand', kinds: ['ERC721A', 'ERC1155'] },
] as const

const historySeconds = 6 * 3_600
const pauseMs = { first: 1_000, last: 3_000 }
const reorganisationPercent = 6

export type SandboxOptions = {
  seed: string
  /** Called with each part and what it does now, for the person who waits; `ready` is the last word of a part. */
  step?: (part: string, doing: string) => void
}

export async function startSandbox({ seed, step = () => {} }: SandboxOptions): Promise<Sandbox> {
  const opened = new AsyncDisposableStack()
  const missing: string[] = []
  const attempt = async <Half>(what: string, start: () => Promise<Half>): Promise<Half | undefined> => {
    try {
      return await start()
    } catch (error) {
      missing.push(`${what}: ${error instanceof Error ? error.message : String(error)}.`)
      return undefined
    }
  }
  const [evm, solana] = await Promise.all([
    attempt('No EVM chains', () => startEvmHalf({ seed, step, opened })),
    attempt('No Solana network', () => startSolanaHalf({ seed, step, opened })),
  ])
  const ended = new AbortController()
  return {
    chains: evm?.map(({ chain }) => chain) ?? [],
    wallets: evm?.[0]?.world.wallets.map(({ address }) => address.toLowerCase()) ?? [],
    solana: solana && { rpcUrl: solana.rpcUrl, wsUrl: solana.wsUrl, wallets: solana.wallets },
    missing,
    begin(report) {
      const { signal } = ended
      const live = (chain: string, turn: (draws: Draws) => Promise<void>): void =>
        void keepAlive(new Draws(seed, `traffic ${chain}`), { turn, signal }).catch(error => {
          if (!signal.aborted) report({ event: 'traffic stopped', chain, reason: error.message })
        })
      const hearOf = (chain: string) => (news: NodeNews) => report({ chain, ...news })
      for (const { chain, world, node } of evm ?? [])
        live(chain.name, draws => {
          const work = () => (draws.chance(reorganisationPercent) ? world.reorganise() : world.mineBlock())
          return node.workOrReplace(work, hearOf(chain.name))
        })
      if (solana !== undefined) live('solana', () => solana.transactOrReplace(hearOf('solana'), signal))
    },
    async stop() {
      ended.abort()
      await opened.disposeAsync()
    },
  }
}

type HalfParts = Required<Pick<SandboxOptions, 'seed' | 'step'>> & { opened: AsyncDisposableStack }

async function startEvmHalf({ seed, step, opened }: HalfParts) {
  if (edrPackage === undefined) throw new Error(whyNoneLoads('@nomicfoundation/edr'))
  const isFirst = !collectionsAreReady()
  if (isFirst) step('contracts', 'compiling, once')
  for (const { name } of chainTable) step(name, 'starting the node')
  // The nodes start while the contracts compile, which takes seconds the first time.
  const genesisTimestamp = Math.floor(Date.now() / 1_000) - historySeconds
  const starting = chainTable.map(({ id: chainId }) => EvmNetwork.start({ chainId, genesisTimestamp }))
  for (const node of starting) opened.defer(async () => (await node.catch(() => undefined))?.stop())
  const compiling = loadCollections().then(compiled => {
    if (isFirst) step('contracts', 'ready')
    return compiled
  })
  const [compiled, ...nodes] = await Promise.all([compiling, ...starting])
  return await Promise.all(
    chainTable.map(async ({ kinds, ...chain }, at) => {
      const progress = (mined: number, all: number): void =>
        step(chain.name, `mining history, ${mined} of ${all} blocks`)
      const parts = { ...chain, kinds, node: nodes[at]!, compiled, seed, genesisTimestamp, progress }
      const created = await createChain(parts)
      step(chain.name, 'ready')
      return created
    }),
  )
}

type ChainParts = Pick<SandboxChain, 'name' | 'id' | 'index'> & EvmWorldOptions & { node: EvmNetwork }

async function createChain({
  name,
  id,
  index,
  node,
  ...rest
}: ChainParts): Promise<{ chain: SandboxChain; world: EvmWorld; node: EvmNetwork }> {
  const world = await EvmWorld.create({ node, ...rest })
  const collections = world.collections.map(({ kind, name, contract }) => ({ kind, name, address: contract.address }))
  const coin = { ...coinNames, address: world.coin.address }
  return { chain: { name, id, index, url: node.url, collections, coin }, world, node }
}

async function startSolanaHalf({ seed, step, opened }: HalfParts) {
  if (litesvmPackage === undefined) throw new Error(whyNoneLoads('litesvm'))
  step('solana', 'starting the node')
  const network = await SolanaNetwork.start({ seed, told: doing => step('solana', doing) })
  opened.defer(() => network.stop())
  step('solana', 'ready')
  return network
}

type Life = { turn: (draws: Draws) => Promise<void>; signal: AbortSignal }

/** Ends only with an error. */
async function keepAlive(draws: Draws, { turn, signal }: Life): Promise<never> {
  for (;;) {
    await delay(draws.between(pauseMs.first, pauseMs.last), undefined, { signal, ref: false })
    await turn(draws)
  }
}
