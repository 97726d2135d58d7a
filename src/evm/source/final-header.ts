// Which block is final: by the node's word or, where it has none, by depth.
import type { ChainSource, Header, HeadReport } from './chain-source.ts'

export type FinalityRule = {
  /** Blocks behind the head that count as final where the node does not say. */
  finalityDepth: number
  finalizedTag: boolean
}

/** Undefined while the chain is too young to have one, or the node does not tell. */
export async function finalHeaderOf(
  { latest, finalized }: HeadReport,
  { finalizedTag, finalityDepth }: FinalityRule,
  source: Pick<ChainSource, 'headerByNumber'>,
  signal: AbortSignal,
): Promise<Header | undefined> {
  const named = finalizedTag ? finalized : undefined
  if (named !== undefined && named.number > latest.number) return undefined
  if (named !== undefined && named.number < latest.number) return named
  // The head itself is never taken as final: history is proven by the block that follows it.
  const number = Math.min(named?.number ?? latest.number - finalityDepth, latest.number - 1)
  const header = number < 0 ? undefined : await source.headerByNumber(number, signal)
  // The chain may have moved between the two questions; the next look tells.
  return number === latest.number - 1 && header?.hash !== latest.parentHash ? undefined : header
}
