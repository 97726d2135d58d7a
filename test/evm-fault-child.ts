// An index process with short delays, made to be killed: it indexes one simulated chain into a store and answers its parent. It
// holds nothing that a restart would need.
import { flushCompileCache } from 'node:module'
import { ChainIndexer } from '../src/evm/index/chain-indexer.ts'
import { ChainRpc } from '../src/evm/rpc/chain-rpc.ts'
import { DecodePool } from '../src/evm/source/decode-pool.ts'
import { createLog } from '../src/log.ts'
import { createEvmMetrics } from '../src/metrics.ts'
import { openStore } from '../src/store/open.ts'
import type { ChildQuestion, ChildSetup } from './evm-fault-process.ts'

const { storeUrl, urls, ...setup } = JSON.parse(process.argv[2] ?? '{}') as ChildSetup
const store = await openStore(storeUrl, { role: 'owner' })
const rpc = new ChainRpc({
  chain: setup.chain,
  endpoints: urls.map(url => ({ url })),
  timeoutMs: 1_500,
  bytesMax: 8 * 2 ** 20,
})
const log = createLog({ level: (process.env.ALMANAC_TEST_LOG as 'debug' | undefined) ?? 'silent', format: 'text' })
const pace = { retryDelayMs: { first: 20, max: 200 }, historyCheckMs: 50, shorterBranchPatienceMs: 300 }
const decoder = new DecodePool({ threads: 1, bytesMin: 50_000 })
const parts = { rpc, store, log, decoder, metrics: createEvmMetrics(), pageSizeMax: 100 }
const indexer = new ChainIndexer({ ...setup, ...parts, pollMs: 20, pace })
indexer.start()

process.on('message', async ({ id, ...question }: ChildQuestion & { id: number }) => {
  if (question.ask === 'contract') await indexer.ensureContract(question.address, question.waitMs)
  if (question.ask === 'wallet') await indexer.ensureWallet(question.address, question.waitMs)
  process.send?.({ id, status: await indexer.status() })
})
// The parent is gone, whatever the reason: nobody would end this process.
process.on('disconnect', () => process.exit())
process.send?.({ ready: true })
// Those that follow read what this one compiled, which a kill would keep it from writing.
flushCompileCache()
