// Picks what one plot shows from the past of everything. Pure.
import type { Line } from '../state/past.ts'
import type { PlotLine } from './plot.tsx'

/** Lines beyond this would only hide each other. */
const linesMax = 16

export function linesOf(lines: readonly Line[], measure: Line['measure'], chain?: string): PlotLine[] {
  return lines
    .filter(line => line.measure === measure && line.chain !== undefined && (chain ?? line.chain) === line.chain)
    .slice(0, linesMax)
    .map(line => ({ label: labelOf(line, chain), values: line.values }))
}

function labelOf({ chain = '', endpoint }: Line, only: string | undefined): string {
  if (endpoint === undefined) return chain
  return only === undefined ? `${chain} ${endpoint}` : endpoint
}
