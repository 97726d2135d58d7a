// The rows of a running service on a terminal: one for each chain, aligned, and what this run did. Where the terminal
// is narrow the bar goes, and what is said after it; state, head and lag stay. Pure but for the look at the locale.
import { durationText } from '../../duration-text.ts'
import type { ChainStatus, SolanaStatus, StatusReport } from '../../status.ts'
import { coveredBlocks, heldText, isHeldUp, transfersText } from '../chain-progress.ts'
import { barText, countOf, countText, isUnicode, percentText, printable, rateText, wrapped } from '../terminal.ts'

/** What the process did since it started. */
export type ServedCounts = { requests: number; requestsPerSecond: number; transfers: number }

export type RowOptions = {
  width: number
  unicode?: boolean
  served?: ServedCounts | undefined
  keys?: string
}

type Row = {
  label: string
  /** Undefined where contracts are read one by one. */
  blocks: { done: number; total: number } | undefined
  /** Takes the place of the bar. */
  mode: string
  state: string
  head: string
  lag: string
  /** The least important last. */
  more: string[]
}
type Trouble = { label: string; text: string }

export function serviceRows({ chains, solana }: StatusReport, options: RowOptions): string[] {
  const { width, unicode = isUnicode, served, keys } = options
  const all = [
    ...Object.entries(chains).map(([name, status]) => chainRow(name, status)),
    ...Object.entries(solana).map(([name, status]) => solanaRow(`solana ${name}`, status)),
  ]
  const labelWidth = Math.max(0, ...all.map(({ label }) => label.length), served === undefined ? 0 : 'this run'.length)
  const labelled = all.map(row => ({ ...row, label: row.label.padEnd(labelWidth) }))
  const laidOut = layOut(
    labelled.filter((row): row is Row => 'state' in row),
    { width, unicode },
  )
  return [
    ...labelled.flatMap(row => ('state' in row ? [laidOut.get(row)!] : troubleLines(row, width))),
    ...(served === undefined ? [] : [runRow('this run'.padEnd(labelWidth), served, width)]),
    ...(keys === undefined ? [] : [keys]),
  ]
}

function chainRow(label: string, status: ChainStatus): Row | Trouble {
  const { state, reason, head, lag_seconds, rates, eta_seconds, head_age_seconds, head_old, contracts = 0 } = status
  if (isHeldUp(state)) return { label, text: `${state}: ${printable(reason ?? 'unknown reason')}` }
  const blocks = coveredBlocks(status)
  const isOnDemand = status.index === 'on-demand'
  const old = head_old === true && head_age_seconds != null ? `, ${durationText(head_age_seconds)} old` : ''
  const held = heldText(status)
  const isFilling = state === 'backfilling' && held === '' && blocks !== undefined
  const filling = isFilling
    ? [
        `${countText(blocks.done)} of ${countOf(blocks.total, 'block')}`,
        ...(eta_seconds == null ? [] : [`${durationText(eta_seconds)} left`]),
        ...(rates == null ? [] : [rateText(rates.blocks_per_second)]),
        transfersText(blocks),
      ]
    : []
  return {
    ...{ label, blocks, mode: isOnDemand ? 'on demand' : '', state: held || state },
    head: head < 0 ? 'no head yet' : `head ${countText(head)}${old}`,
    lag: `lag ${durationText(lag_seconds)}`,
    more: (isOnDemand ? [countOf(contracts, 'contract')] : filling).filter(text => text !== ''),
  }
}

function solanaRow(label: string, status: SolanaStatus): Row | Trouble {
  const { state, reason, slot, lag_seconds } = status
  if (reason !== undefined) return { label, text: `${state}: ${printable(reason)}` }
  const head = slot > 0 ? `slot ${countText(slot)}` : 'no slot yet'
  // Without a WebSocket nothing is asked before the first request.
  const shown = slot > 0 ? state : 'idle'
  return { label, blocks: undefined, mode: '', state: shown, head, lag: `lag ${durationText(lag_seconds)}`, more: [] }
}

/** The reason and the hint on lines of their own, which a narrow terminal does not cut off. */
function troubleLines({ label, text }: Trouble, width: number): string[] {
  const indent = ' '.repeat(label.length + 2)
  const [reason = '', ...hints] = text.split(/ (?=Try: )/)
  return [reason, ...hints].flatMap((part, at) =>
    wrapped(part, { width, first: at === 0 ? `${label}  ` : indent, indent }),
  )
}

type Layout = { bar: number; more: number; percent: boolean; aligned: boolean }

/** From the widest to the narrowest. */
const layouts: readonly Layout[] = [
  ...[4, 3, 2].map(more => ({ bar: 24, more, percent: true, aligned: true })),
  { bar: 12, more: 2, percent: true, aligned: true },
  ...[2, 1, 0].map(more => ({ bar: 0, more, percent: true, aligned: true })),
  { bar: 0, more: 0, percent: false, aligned: true },
  { bar: 0, more: 0, percent: false, aligned: false },
]

/** The same layout for all rows, the first that fits; a line that is still too long is cut by the screen. */
function layOut(rows: readonly Row[], { width, unicode }: { width: number; unicode: boolean }): Map<Row, string> {
  const widthOf = (name: 'state' | 'head' | 'lag'): number => Math.max(0, ...rows.map(row => row[name].length))
  const [stateWidth, headWidth, lagWidth] = [widthOf('state'), widthOf('head'), widthOf('lag')]
  const lines = ({ bar, percent, more, aligned }: Layout): string[] =>
    rows.map(({ label, blocks, mode, ...row }) => {
      const share = blocks === undefined ? '' : percentText(blocks.done, blocks.total)
      const shown = blocks === undefined ? mode : barText(blocks.done, blocks.total, { width: bar, unicode })
      const modeLater = bar === 0 && blocks === undefined && mode !== '' ? [mode] : []
      return [
        label,
        ...(bar === 0 ? [] : [shown.padEnd(bar + (unicode ? 0 : 2))]),
        ...(percent ? [share.padStart(6)] : []),
        ...(aligned
          ? [row.state.padEnd(stateWidth), row.head.padEnd(headWidth), row.lag.padEnd(lagWidth)]
          : [row.state, row.head, row.lag]),
        ...[...row.more, ...modeLater].slice(0, more),
      ]
        .join('  ')
        .trimEnd()
    })
  const chosen = layouts.map(lines).find(all => all.every(line => line.length <= width)) ?? lines(layouts.at(-1)!)
  return new Map(rows.map((row, at) => [row, chosen[at]!]))
}

function runRow(label: string, { requests, requestsPerSecond, transfers }: ServedCounts, width: number): string {
  const rate = requestsPerSecond >= 10 ? countText(requestsPerSecond) : requestsPerSecond.toFixed(1)
  const [asked, kept] = [countOf(requests, 'request'), countOf(transfers, 'transfer')]
  const line = `${label}  ${asked} served (${rate}/s)  ${kept} stored`
  return line.length <= width ? line : `${label}  ${asked} (${rate}/s)  ${kept}`
}

export type Paint = Readonly<Record<'live' | 'stalled' | 'soft', (text: string) => string>>

/** Colours the states of a row. */
export function tinted(line: string, paint: Paint): string {
  if (/^\S.* {2}(stalled|disputed|store_full): |, \S.* old( {2}|$)/.test(line)) return paint.stalled(line)
  if (/^this run {2,}\d|^Press /.test(line)) return paint.soft(line)
  return line.replace(/(?<= {2})live(?= {2})/, paint.live)
}
