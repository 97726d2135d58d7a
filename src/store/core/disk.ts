// What the core asks of an engine: whole batches, each read in one moment. The core is written once, as generators that
// yield what they want to have read; an engine that answers at once runs them to their end, another awaits each answer.
// No IO here.
import type { Interval } from '../../model.ts'
import type { IndexView } from '../indexes/index-view.ts'

/** The records of an index that a walk over its keys begins with. */
export type RecordsAsk = {
  chain: number
  view: IndexView
  /** Its number, for a view by contract. */
  contract: number | undefined
  order: 'keys' | 'back'
  /** Keys in the order of the walk, both included. */
  first: Uint8Array
  last: Uint8Array
  limit: number
  /** Which blocks records of the walk can have. */
  blocks: Interval
  /** Keys differ in the place alone: a walk meets runs in the order of their blocks. */
  isOneSubject: boolean
  /** As if records lay evenly, times this. */
  packsFactor: number
  /** How many runs the batches before this one gave: one object asks for all batches of a walk. */
  runsGiven: number
}

/** The packs of a run in the order of the walk, the first with the one that may have the first key. */
export type RunPacks = {
  /** `packKey`: the first key of the pack before. Undefined at the end of what is here. */
  next: (packKey: () => Uint8Array) => Uint8Array<ArrayBuffer> | undefined
  /** The run may have more than what is here. */
  isCut: boolean
}

/** Keys and values of rows in the order of the walk, each in one piece of memory. */
export type RecordRows = { keys: Uint8Array; values: Uint8Array; lengths: readonly number[] }

export type RecordsBatch = {
  rows: RecordRows[]
  runs: RunPacks[]
  /** Records of runs above this block are left out. */
  highest?: number | undefined
  /** What was left out of runs that are cut comes at this key or later; without it, right after what is here. */
  horizon?: Uint8Array | undefined
  /** Of the nearest run that was not given, the block that the walk meets first. All batches are of one moment then. */
  nextBlock?: number | undefined
}

/** Undefined where the index is not kept. */
export type RecordsRead<T> = Generator<RecordsAsk, T, RecordsBatch | undefined>

export function runNow<T>(work: RecordsRead<T>, answer: (ask: RecordsAsk) => RecordsBatch | undefined): T {
  let step = work.next()
  while (!step.done) step = work.next(answer(step.value))
  return step.value
}

export async function runAwaiting<T>(
  work: RecordsRead<T>,
  answer: (ask: RecordsAsk) => Promise<RecordsBatch | undefined>,
): Promise<T> {
  let step = work.next()
  while (!step.done) step = work.next(await answer(step.value))
  return step.value
}
