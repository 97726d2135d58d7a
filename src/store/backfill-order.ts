// What an operator ordered for the history of a chain: a pause, or a slower pace than the settings'. It is kept in the
// store, so that it reaches the process that has the chain, from any other one, and survives a restart.
import type { ChainId } from '../model.ts'
import type { CheckpointStore } from './store.ts'

/** Who gave the order, and when (ISO 8601). */
export type Ordered = { by: string; at: string }

/** What is left out stays as the settings say. */
export type BackfillThrottle = Ordered & { blocks_per_second?: number | undefined; hours?: string | undefined }

export type BackfillOrder = { paused?: Ordered; throttle?: BackfillThrottle }

type Checkpoints = Pick<CheckpointStore, 'checkpoint' | 'putCheckpoint'>

export async function backfillOrder(store: Checkpoints, chain: ChainId): Promise<BackfillOrder> {
  const [paused, throttle] = await Promise.all([read(store, chain, 'paused'), read(store, chain, 'throttle')])
  return { ...(paused && { paused }), ...(throttle && { throttle }) }
}

/** A part that is left out stays; null takes it back. */
export async function orderBackfill(
  store: Checkpoints,
  chain: ChainId,
  order: { paused?: Ordered | null; throttle?: BackfillThrottle | null },
): Promise<void> {
  // Apart from each other, so that two operators do not undo each other's order.
  for (const part of ['paused', 'throttle'] as const) {
    const given = order[part]
    if (given !== undefined) await store.putCheckpoint(nameOf(chain, part), given === null ? '' : JSON.stringify(given))
  }
}

async function read<Part extends keyof BackfillOrder>(
  store: Checkpoints,
  chain: ChainId,
  part: Part,
): Promise<BackfillOrder[Part] | undefined> {
  const text = await store.checkpoint(nameOf(chain, part))
  return text === undefined || text === '' ? undefined : JSON.parse(text)
}

function nameOf(chain: ChainId, part: keyof BackfillOrder): string {
  return `backfill/${chain}/${part}`
}
