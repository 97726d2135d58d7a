// One line for each chain that says how far it is. Pure: from the status to text.
import type { ChainStatus, SolanaStatus, StatusReport } from '../api/status-report.ts'
import { blockCount, missingIntervals } from '../coverage.ts'
import type { Interval } from '../model.ts'
import { progressText } from './progress.ts'
import { countText } from './quantities.ts'
import { printable } from './terminal.ts'

export type CoverageFacts = {
  head: number
  covered: readonly (Interval & { scope: string })[]
  from?: number | undefined
  index?: string | undefined
}

/** Blocks that are there and blocks that there should be; undefined where contracts are read one by one. */
export function coveredBlocks({
  head,
  from = 0,
  index,
  covered,
}: CoverageFacts): { done: number; total: number } | undefined {
  if (index === 'on-demand' || head < from) return undefined
  const full = covered.filter(({ scope }) => scope === 'full')
  const total = head - from + 1
  return { done: total - blockCount(missingIntervals(full, { from, to: head })), total }
}

/** How many contracts have something covered. */
export function coveredContracts({ covered }: Pick<CoverageFacts, 'covered'>): number {
  return new Set(covered.map(({ scope }) => scope).filter(scope => scope !== 'full' && scope !== 'watched')).size
}

export function progressLines({ chains, solana }: StatusReport, options: { bar: boolean }): string[] {
  const names = [...Object.keys(chains), ...Object.keys(solana).map(name => `solana ${name}`)]
  const width = Math.max(0, ...names.map(name => name.length))
  return [
    ...Object.entries(chains).map(([name, status]) => chainLine(name.padEnd(width), status, options)),
    ...Object.entries(solana).map(([name, status]) => solanaLine(`solana ${name}`.padEnd(width), status)),
  ]
}

export function chainLine(label: string, status: ChainStatus, options: { bar: boolean }): string {
  const { state, reason, head, lag_seconds, rates, eta_seconds } = status
  if (state === 'stalled') return `${label}  stalled: ${printable(reason ?? 'no reason is known')}`
  if (state === 'live') return `${label}  live  head ${countText(head)}  ${lag_seconds} s behind`
  const blocks = coveredBlocks(status)
  if (blocks === undefined)
    return `${label}  ${state}  head ${countText(Math.max(0, head))}  ${coveredContracts(status)} contracts`
  const blocksPerSecond = rates?.blocksPerSecond
  return progressText({ label, ...blocks, blocksPerSecond, secondsLeft: eta_seconds ?? undefined }, options)
}

function solanaLine(label: string, { state, slot, lag_seconds }: SolanaStatus): string {
  return `${label}  ${state}  slot ${countText(slot)}  ${lag_seconds} s behind`
}
