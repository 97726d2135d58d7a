// One line for each chain that says how far it is. Pure: from the status to text.

import { blockCount, missingIntervals } from '../coverage.ts'
import type { Interval } from '../model.ts'
import type { ChainStatus, SolanaStatus, StatusReport } from '../status-report.ts'
import { barText, noBar, progressText } from './progress.ts'
import { contractsText, countText, durationText, percentText } from './quantities.ts'
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
    ...Object.entries(chains).flatMap(([name, status]) => {
      const line = chainLine(name.padEnd(width), status, options)
      // What to try stands on a line of its own, where a narrow terminal does not cut it off.
      return options.bar ? line.replace(/ Try: /, `\n${' '.repeat(width)}  Try: `).split('\n') : [line]
    }),
    ...Object.entries(solana).map(([name, status]) => solanaLine(`solana ${name}`.padEnd(width), status, options)),
  ]
}

/** With a bar, every line has its figures in the same places. */
export function chainLine(label: string, status: ChainStatus, options: { bar: boolean }): string {
  const { state, reason, head, lag_seconds, rates, eta_seconds } = status
  if (state === 'stalled') return `${label}  stalled: ${printable(reason ?? 'no reason is known')}`
  const blocks = coveredBlocks(status)
  const contracts = contractsText(coveredContracts(status))
  if (state === 'live') {
    const covered =
      blocks === undefined
        ? emptyBar('on demand')
        : `${barText(blocks.done, blocks.total)}  ${percentText(blocks.done, blocks.total).padStart(6)}  `
    const more = blocks === undefined && options.bar ? [contracts] : []
    return [
      `${label}  ${options.bar ? covered : ''}live  head ${countText(head)}`,
      `${behindText(lag_seconds)}`,
      ...more,
    ].join('  ')
  }
  if (blocks === undefined)
    return `${label}  ${options.bar ? emptyBar('on demand') : ''}${state}  ${head < 0 ? 'no head yet' : `head ${countText(head)}`}  ${contracts}`
  const blocksPerSecond = rates?.blocksPerSecond
  return progressText({ label, ...blocks, blocksPerSecond, secondsLeft: eta_seconds ?? undefined }, options)
}

function solanaLine(label: string, { state, slot, lag_seconds }: SolanaStatus, { bar }: { bar: boolean }): string {
  return `${label}  ${bar ? emptyBar('') : ''}${state}  slot ${countText(slot)}  ${behindText(lag_seconds)}`
}

function behindText(seconds: number): string {
  return seconds < 60 ? `${Math.round(seconds)} s behind` : `${durationText(seconds)} behind`
}

/** In the place of a bar and its figure. */
function emptyBar(text: string): string {
  return `${text.padEnd(noBar.length)}  ${' '.repeat(6)}  `
}

/** The states in their colours, for a terminal. */
export function tinted(line: string, paint: { live(text: string): string; stalled(text: string): string }): string {
  if (/ {2}stalled: /.test(line)) return paint.stalled(line)
  return line.replace(/(?<= {2})live(?= {2})/, paint.live)
}
