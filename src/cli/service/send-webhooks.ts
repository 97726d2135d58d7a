// What the thread of webhooks does: it sends them, so neither indexing nor an answer waits for a receiver. It opens its
// own connection to the store, and may be ended at any moment.

import { reachRules, type WebhookSettings } from '../../api/evm/webhooks/delivery.ts'
import { WebhookSender } from '../../api/evm/webhooks/sender.ts'
import type { Dialect } from '../../api/params.ts'
import { type Chain, ChainTable } from '../../chains.ts'
import { leaseHolder } from '../../evm/index/leased-indexer.ts'
import { IndexingLimits } from '../../keys/indexing-limits.ts'
import { createLog, type LogOptions } from '../../log.ts'
import { createWebhookMetrics } from '../../metrics.ts'
import { Reports } from '../../processes/heartbeat.ts'
import { remoteFreshen } from '../../processes/remote-freshen.ts'
import { KnownLabels } from '../../query/known-labels.ts'
import { transferReads } from '../../query/nft-transfers.ts'
import { openStore } from '../../store/open.ts'
import { yieldToServing } from '../../threads.ts'

export type WebhookThreadData = {
  store: string
  addedChains: Chain[]
  dialect: Dialect
  settings: WebhookSettings
  leaseMs?: number
  log: Pick<LogOptions, 'level' | 'format' | 'colours'>
}

export type WebhookThread = Awaited<ReturnType<typeof startThread>>

/** Of the labels of a few hundred thousand addresses; the others are looked up. */
const labelBytesMax = 8 * 1_024 * 1_024

export async function startThread({
  store: location,
  addedChains,
  dialect,
  settings,
  leaseMs,
  log,
}: WebhookThreadData) {
  yieldToServing()
  const store = await openStore(location, { role: 'reader' })
  const ownLog = createLog({ ...log, hidden: [process.env.ALMANAC_KEY ?? ''] })
  const chains = new ChainTable(addedChains)
  const metrics = createWebhookMetrics()
  const labels = new KnownLabels(store, () => store.revision(), { bytesMax: labelBytesMax, log: ownLog })
  const sender = new WebhookSender({
    ...{ store, chains, dialect, metrics, log: ownLog, holder: leaseHolder(), rules: reachRules(settings) },
    reads: transferReads(store, labels, chains),
    freshen: remoteFreshen(store, new Reports(store), new IndexingLimits(store)),
    ...(leaseMs === undefined ? {} : { leaseMs }),
  })
  return {
    metrics: () => metrics.registry.metrics(),
    async close() {
      await sender.close()
      await store.close()
    },
  }
}
