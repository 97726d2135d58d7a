// Which block is final: by the node's word or, where it has none, by depth.
import type { ChainSource, Header, HeadReport } from './chain-source.ts'

export type FinalityRule = {
  /** Blocks behind the head that count as final where the node does not say. */
  finalityDepth: number
  finalizedTag: boolean
}

/** Undefined while the chain is too young to have one. */
export async function finalHeaderOf(
  { latest, finalized }: HeadReport,
  { finalizedTag, finalityDepth }: FinalityRule,
  source: Pick<ChainSource, 'headerByNumber'>,
  signal: AbortSignal,
): Promise<Header | undefined> {
  if (finalizedTag && finalized !== undefined) return finalized.number <= latest.number ? finalized : undefined
  const number = latest.number - finalityDepth
  return number < 0 ? undefined : source.headerByNumber(number, signal)
}
