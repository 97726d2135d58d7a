// Everything that both engines store in the same way: chains and the plain tables.
import { chainStore } from '../core/chain-store.ts'
import { Core, type CoreOptions } from '../core/core.ts'
import type { Engine } from '../core/work.ts'
import type { Lease } from '../store.ts'
import { annotationStore } from './annotations.ts'
import { keyStore } from './keys.ts'
import { checkpointStore, leaseStore, requireLease } from './leases.ts'
import { solanaStore } from './solana-holdings.ts'
import { webFactStore } from './web-facts.ts'
import { webhookProgressWriter, webhookStore } from './webhooks.ts'
import { workStore } from './work.ts'

export function allTables(engine: Engine, options: Partial<CoreOptions> = {}) {
  const core = new Core(engine, options)
  const { fencedBy, ...chains } = chainStore(core)
  return {
    ...chains,
    ...solanaStore(engine),
    ...keyStore(engine),
    ...annotationStore(core),
    ...webFactStore(engine),
    ...leaseStore(engine),
    ...workStore(engine),
    ...checkpointStore(engine),
    ...webhookStore(engine),
    fenced(lease: Lease) {
      const fenced = engine.fenced(() => requireLease(lease))
      const { putCheckpoint } = checkpointStore(fenced)
      return { ...fencedBy(fenced), putCheckpoint, ...webhookProgressWriter(fenced) }
    },
  }
}
