// How many transfers a token has, by estimate, kept in the store while it is not indexed whole: so that every process
// can say what indexing it would cost, and that it is not done for a request. It estimates nothing itself.
import type { Address, ChainId } from '../model.ts'
import type { CheckpointStore } from './store.ts'

export type SizeEstimate = {
  /** Of its whole history. */
  transfers: number
  /** Of reading what is left, at the pace of the part that was read. */
  seconds: number
  /** What reading the rest counts as against the limit `index_per_day` of a key. */
  targets: number
  /** No key that asked may have it read: it is followed, and its older transfers are not read. */
  held: boolean
}

type Checkpoints = Pick<CheckpointStore, 'checkpoint' | 'putCheckpoint'>

/** The checkpoint of the estimate of a contract, or the beginning of all of a ledger's. */
export function sizeEstimateName(ledger: ChainId, contract: Address | '' = ''): string {
  return `estimate/${ledger}/${contract}`
}

export async function sizeEstimate(
  store: Pick<Checkpoints, 'checkpoint'>,
  ledger: ChainId,
  contract: Address,
): Promise<SizeEstimate | undefined> {
  const text = await store.checkpoint(sizeEstimateName(ledger, contract))
  return text === undefined || text === '' ? undefined : (JSON.parse(text) as SizeEstimate)
}

/** Undefined takes it back. */
export async function putSizeEstimate(
  store: Pick<Checkpoints, 'putCheckpoint'>,
  { ledger, contract }: { ledger: ChainId; contract: Address },
  estimate: SizeEstimate | undefined,
): Promise<void> {
  await store.putCheckpoint(sizeEstimateName(ledger, contract), estimate === undefined ? '' : JSON.stringify(estimate))
}
