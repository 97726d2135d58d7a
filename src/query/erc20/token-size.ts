// What answers say of a token that is not indexed whole because it is too large for the keys that asked for it.
import { AlmanacError } from '../../errors.ts'
import type { Address, ChainId } from '../../model.ts'
import { type SizeEstimate, sizeEstimate } from '../../store/size-estimates.ts'
import type { CheckpointStore } from '../../store/store.ts'
import type { IndexingKey } from '../freshen.ts'

const dayMs = 86_400_000

type Sized = { ledger: ChainId; contract: Address }
type Checkpoints = Pick<CheckpointStore, 'checkpoint'>

/** Why waiting does not complete an answer; undefined where the token is indexed whole, or is being indexed. */
export async function whyHeld(store: Checkpoints, { ledger, contract }: Sized): Promise<string | undefined> {
  const estimate = await sizeEstimate(store, ledger, contract)
  return estimate?.held === true ? `${reasonOf(estimate)}, more than any key that asked may have` : undefined
}

/** For what takes the whole history: fails where the rest of it is not read for any key that asked. */
export async function requireBegun(store: Checkpoints, { ledger, contract }: Sized, key: IndexingKey): Promise<void> {
  const estimate = await sizeEstimate(store, ledger, contract)
  if (estimate?.held !== true) return
  const { transfers, seconds, targets } = estimate
  throw new AlmanacError('quota_exceeded', 'Rate limit exceeded', {
    retryAfterMs: dayMs - (Date.now() % dayMs),
    details: {
      ...{ contract, transfers, seconds, targets },
      reason: `${reasonOf(estimate)}.`,
      raise: `almanac keys limit ${key.id} --index ${limitFor(targets, key)}`,
    },
  })
}

/** A key that may have as many indexed has used its day. */
function limitFor(targets: number, { indexPerDay = 0 }: IndexingKey): number {
  return targets > indexPerDay ? targets : indexPerDay + targets
}

function reasonOf({ transfers, targets }: SizeEstimate): string {
  const about = transfers.toLocaleString('en-US', { maximumSignificantDigits: 2 })
  return `The token has about ${about} transfers, and reading the rest counts as ${targets} targets to index`
}
