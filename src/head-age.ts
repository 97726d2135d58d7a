// How old the newest block of a chain is, held against the usual time between its blocks: a node that stopped importing
// blocks shows in nothing else. It decides nothing.
import type { Chain } from './chains.ts'
import type { Block } from './model.ts'
import type { ChainStatus } from './status.ts'

export type HeadAge = {
  /** By this machine's clock; null while no block is known. */
  head_age_seconds: number | null
  /** Older than a chain that runs lets it become. */
  head_old: boolean
}

/** Blocks that may be missing before the head counts as old. */
const blocksMissed = 30
/** Fast chains pause too, and clocks differ. */
const oldSecondsMin = 120

/** A node may be asked for the first time between two of its blocks, and a busy machine is slow with the next one. */
const watchedSecondsMin = 10

type Watched = { head: Block | undefined; blockTimeSeconds: number; followingSeconds: number }

/** A head that is old when the service starts is reported once the next block was due. */
export function headAge(chain: AgedChain, { head, blockTimeSeconds, followingSeconds }: Watched): HeadAge {
  if (head === undefined) return { head_age_seconds: null, head_old: false }
  const age = Math.max(0, Math.round(Date.now() / 1_000 - head.timestamp))
  const ageMax = headAgeMax(chain, blockTimeSeconds)
  const isDue = followingSeconds >= Math.max(watchedSecondsMin, blockTimeSeconds)
  return { head_age_seconds: age, head_old: ageMax !== undefined && age > ageMax && isDue }
}

/** What to do about a head that is old. */
export function oldHint(chain: string): string {
  const setting = `chains.${chain}.head_age_max_seconds`
  return `compare it with another endpoint; if the chain makes blocks on demand, set ${setting} to 0.`
}

type AgedChain = Pick<Chain, 'retired' | 'headAgeMaxSeconds'>

/** In seconds; undefined where the chain makes no blocks, or makes them on demand: no age says anything of the node. */
export function headAgeMax({ retired, headAgeMaxSeconds }: AgedChain, blockTimeSeconds: number): number | undefined {
  if (retired || headAgeMaxSeconds === 0) return undefined
  return headAgeMaxSeconds ?? Math.max(oldSecondsMin, blocksMissed * blockTimeSeconds)
}

/**
 * Of the chain table, or of the blocks that are not final where those took longer: the table knows nothing of a chain
 * that an operator added.
 */
export function usualBlockTime({ blockTimeMs }: Pick<Chain, 'blockTimeMs'>, blocks: readonly Block[]): number {
  const [first, last] = [blocks[0], blocks.at(-1)]
  const usual = blockTimeMs / 1_000
  if (first === undefined || last === undefined || last.number === first.number) return usual
  return Math.max(usual, (last.timestamp - first.timestamp) / (last.number - first.number))
}

type Told = Pick<ChainStatus, 'head'> & {
  state?: string | undefined
  head_age_seconds?: number | null | undefined
  head_old?: boolean | undefined
}

/** Of which block answers are while a chain is stalled or its newest block is old; undefined while it goes on. */
export function asOfText({ state, head, head_age_seconds, head_old }: Told): string | undefined {
  const isHeldUp = state === 'stalled' || head_old === true
  if (!isHeldUp || head < 0 || head_age_seconds === null || head_age_seconds === undefined) return undefined
  const minutes = Math.floor(head_age_seconds / 60)
  return `as of block ${head}, ${minutes === 1 ? '1 minute' : `${minutes} minutes`} old`
}

/** The age of a head that was reported this many seconds ago. */
export function older(age: number | null | undefined, seconds: number): number | null {
  return age === null || age === undefined ? null : age + seconds
}
