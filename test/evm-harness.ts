// Runs the EVM indexer on a simulated chain and compares the store with what the simulator knows.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../src/abort.ts'
import { type Chain, defineChain } from '../src/chains.ts'
import type { ContractAnnotator } from '../src/evm/facts/contract-annotator.ts'
import { ChainIndexer, type ChainPace, type ChainSetup } from '../src/evm/index/chain-indexer.ts'
import { ChainRpc } from '../src/evm/rpc/chain-rpc.ts'
import type { BulkSources } from '../src/evm/source/bulk-sources.ts'
import { createLog } from '../src/log.ts'
import { createEvmMetrics, type EvmMetrics } from '../src/metrics.ts'
import type { Address, Interval } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { StoreRoom } from '../src/store/room.ts'
import type { Store } from '../src/store/store.ts'
import { layOut, newLayout, unpackTransfer } from '../src/store/transfer-payload.ts'
import type { SimChain } from './sim/chain.ts'
import type { SimNode } from './sim/node.ts'
import { type ExpectedTransfer, expectedTransfers } from './sim/truth.ts'
import type { Engine } from './store-engines.ts'

/** For what comes at once on an idle machine; only what never comes reaches it. */
export const patienceMs = 60_000

let emptyFile: Promise<Buffer> | undefined

/** What a first start makes, made once: it takes three times as long as to open it. */
async function makeEmptyFile(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-empty-'))
  const file = join(folder, 'almanac.db')
  await (await openStore(`file:${file}`, { role: 'owner' })).close()
  const bytes = readFileSync(file)
  rmSync(folder, { recursive: true })
  return bytes
}

/** A new and empty store, in a file unless an engine gives another one. */
export async function temporaryStore(
  engine?: Engine,
): Promise<{ store: Store; url: string; remove: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-evm-'))
  const file = join(folder, 'almanac.db')
  emptyFile ??= makeEmptyFile()
  if (engine === undefined) writeFileSync(file, await emptyFile)
  const url = engine === undefined ? `file:${file}` : await engine.newStore()
  const store = await openStore(url, { role: 'owner' })
  return {
    store,
    url,
    remove: async () => {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function simulatedChain(node: SimNode): Chain {
  const { chainId, finalityDepth } = node.chain.options
  return { ...defineChain({ name: 'sim', id: chainId }), finalityDepth }
}

const storeOf = new WeakMap<ChainIndexer, Store>()

export function startIndexer(
  node: SimNode,
  store: Store,
  setup: Partial<
    ChainSetup & {
      pace: Partial<ChainPace>
      annotator: ContractAnnotator
      room: StoreRoom
      urls: string[]
      bulk: BulkSources
      /** Of the transport; absent: the real one. */
      clock: Clock
    }
  > = {},
): { indexer: ChainIndexer; rpc: ChainRpc; metrics: EvmMetrics; stop: () => Promise<void> } {
  const chain = simulatedChain(node)
  const urls = setup.urls ?? node.endpoints.map(({ url }) => url)
  const rpc = new ChainRpc({ chain, endpoints: urls.map(url => ({ url })), timeoutMs: 2_000, clock: setup.clock })
  const metrics = createEvmMetrics()
  const indexer = new ChainIndexer({
    pageSizeMax: 100,
    chain,
    index: 'full',
    from: 0,
    contracts: [],
    pollMs: 50,
    ...setup,
    rpc,
    store,
    log: createLog({ level: (process.env.ALMANAC_TEST_LOG as 'debug' | undefined) ?? 'silent', format: 'text' }),
    metrics,
  })
  storeOf.set(indexer, store)
  indexer.start()
  return {
    indexer,
    rpc,
    metrics,
    stop: async () => {
      await indexer.stop()
      await rpc.close()
    },
  }
}

/** Waits until the chain is live and complete up to the simulator's head, and its blocks are stored. */
export async function caughtUp(indexer: ChainIndexer, node: SimNode, timeoutMs = patienceMs): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const status = await indexer.status()
    const isThere = status.state === 'live' && status.complete && status.head === node.chain.head
    const hot = (await storeOf.get(indexer)?.hotBlocks(simulatedChain(node).id)) ?? []
    const isSame = hot.every(({ number, hash }) => node.chain.hashOf(number) === hash)
    if (isThere && isSame && status.lag_seconds === 0) return
    if (Date.now() > deadline)
      throw new Error(`not caught up: ${JSON.stringify({ ...status, covered: status.covered.slice(0, 5) })}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

/** Every stored transfer of a contract, oldest first, in the simulator's terms. */
export async function storedTransfers(store: Store, chain: SimChain, contract: Address): Promise<ExpectedTransfer[]> {
  const found: ExpectedTransfer[] = []
  const layout = newLayout()
  for (let after: ExpectedTransfer | undefined; ; ) {
    const page = await store.transferPage({
      chain: chain.options.chainId as Chain['id'],
      contract,
      order: 'asc',
      limit: 1_000,
      ...(after === undefined ? {} : { after }),
    })
    for (let row = 0, at = 0; row < page.length; row++) {
      layOut(page.payloads, at, layout)
      const hash = Buffer.from(page.blockHashes.subarray(row * 32, row * 32 + 32)).toString('hex')
      found.push({
        ...unpackTransfer(page.payloads.subarray(at, layout.end)),
        block: page.blocks[row]!,
        transactionIndex: page.transactionIndexes[row]!,
        logIndex: page.logIndexes[row]!,
        batchIndex: page.batchIndexes[row]!,
        contract,
        blockHash: `0x${hash}` as ExpectedTransfer['blockHash'],
        timestamp: page.timestamps[row]!,
      })
      at = layout.end
    }
    if (page.length < 1_000) return found
    after = found.at(-1)
  }
}

/** What the simulator says that the store must hold, by contract. */
export function truthByContract(chain: SimChain, range: Interval): Map<Address, ExpectedTransfer[]> {
  const truth = new Map<Address, ExpectedTransfer[]>()
  for (const transfer of expectedTransfers(chain, range)) {
    truth.set(transfer.contract, [...(truth.get(transfer.contract) ?? []), transfer])
  }
  return truth
}
