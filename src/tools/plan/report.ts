// Shows a plan: as JSON, and as a table with what to know of it. It works nothing out but sums.

import { bytesText, type Column, countOf, countText, fitted, fittedTable, printable } from '../../cli/terminal.ts'
import { blockCount } from '../../coverage.ts'
import { durationText } from '../../duration-text.ts'
import { type AlmanacError, toPlain } from '../../errors.ts'
import type { Interval } from '../../model.ts'
import type { SourceStatus } from '../../status.ts'
import type { Work } from './work.ts'

export type ChainPlan = {
  name: string
  works: readonly Work[]
  /** Blocks that no source has. */
  missing: readonly Interval[]
  /** Files and portals. */
  sources: readonly SourceStatus[]
  /** Whether the head comes from files or a portal. */
  isArchive: boolean
  /** Blocks above the final one, which are left out. */
  notFinal: number
  /** Why nothing is known of it. */
  failure?: AlmanacError
}
export type Spent = { calls: number; bytes: number; seconds: number }

const formats = {
  ...{ calls: countText, bytes: bytesText, seconds: durationText, senders_seconds: durationText },
  ...{ transfers: countText, addresses: countText, disk_bytes: bytesText },
}
const figureNames = Object.keys(formats) as (keyof typeof formats)[]
type Figures = Record<keyof typeof formats, number>

function figuresOf({ estimate, senders, diskBytes }: Work): Figures {
  const { calls, bytes, transfers, addresses } = estimate
  const [seconds, sendersSeconds] = [estimate.seconds, senders?.seconds ?? 0].map(tenths) as [number, number]
  return { calls, bytes, seconds, senders_seconds: sendersSeconds, transfers, addresses, disk_bytes: diskBytes }
}

function tenths(seconds: number): number {
  return Math.round(seconds * 10) / 10
}

/** Parts of one chain come one after another, so their times add up; chains run in parallel. */
function sumOf(works: readonly Work[]): Figures {
  const list = works.map(figuresOf)
  const sum = (name: keyof Figures): number => list.reduce((total, figures) => total + figures[name], 0)
  return Object.fromEntries(figureNames.map(name => [name, sum(name)])) as Figures
}

export function callsOf(works: readonly Work[]): number {
  return sumOf(works).calls
}

export function totalOf(plans: readonly ChainPlan[]): Figures {
  const sums = plans.map(({ works }) => sumOf(works))
  const longest = (name: keyof Figures): number => Math.max(0, ...sums.map(sum => sum[name]))
  const times = { seconds: longest('seconds'), senders_seconds: longest('senders_seconds') }
  return { ...sumOf(plans.flatMap(({ works }) => works)), ...times }
}

export function shown(plans: readonly ChainPlan[], spent: Spent) {
  const chains = plans
    .filter(plan => plan.failure !== undefined || plan.works.length + plan.missing.length + plan.sources.length > 0)
    .map(({ name, works, missing, sources, notFinal, failure }) => [
      name,
      failure !== undefined
        ? { error: shownFailure(failure) }
        : {
            ...sumOf(works),
            not_final: notFinal,
            parts: works.map(shownPart),
            missing,
            ...(sources.length === 0 ? {} : { sources }),
          },
    ])
  const sampling = { ...spent, seconds: tenths(spent.seconds) }
  return { chains: Object.fromEntries(chains), total: totalOf(plans), sampling }
}

function shownFailure(failure: AlmanacError) {
  const { code, message, cause, hint, retryable } = toPlain(failure)
  return { code, message, cause, hint, retryable }
}

function shownPart(work: Work) {
  const { contract, ledger, isCodeless, views, source, sourceName, intervals, estimate, senders, limitedBy } = work
  return {
    ...(ledger === undefined ? {} : { ledger }),
    ...(contract === undefined ? { views } : { contract, ...(isCodeless ? { has_code: false } : {}) }),
    ...{ source, ...(sourceName === undefined ? {} : { source_name: sourceName }) },
    ...{ from: intervals[0]?.from ?? 0, to: intervals.at(-1)?.to ?? -1, intervals },
    ...{ blocks: estimate.blocks, blocks_sampled: estimate.blocksSampled },
    ...figuresOf(work),
    ...(senders === undefined ? {} : { senders: { ...senders, seconds: tenths(senders.seconds) } }),
    limited_by: limitedBy,
  }
}

/** Figures for the table; the JSON has all. */
const columns = [
  { title: 'CALLS', figure: 'calls' },
  { title: 'BYTES', figure: 'bytes', drop: 4 },
  { title: 'TIME', figure: 'seconds' },
  { title: 'SENDERS', figure: 'senders_seconds', drop: 5 },
  { title: 'TRANSFERS', figure: 'transfers', drop: 2 },
  { title: 'DISK', figure: 'disk_bytes' },
] as const satisfies (Column & { figure: keyof Figures })[]

/** `price`: what the calls cost, for the first sentence. */
export function described(
  plans: readonly ChainPlan[],
  { price, more, spent }: { price: string; more: readonly string[]; spent: Spent },
): string {
  const works = plans.flatMap(plan => plan.works)
  const limits = works.filter(({ limitedBy }) => !['endpoints', 'portal', 'machine'].includes(limitedBy))
  const areEmpty = plans.every(isEmpty)
  const notes = [
    ...plans.flatMap(sourceLines),
    ...plans.flatMap(viewsLines),
    ...plans.flatMap(notFinalLine),
    ...works.flatMap(codelessLine),
    ...(areEmpty ? [] : plans.filter(isEmpty).map(plan => `${plan.name}: ${emptyText([plan])}.`)),
    ...works.filter(({ source, limitedBy }) => source === 'nodes' && limitedBy === 'machine').map(machineLine),
    ...limits.map(({ chain, limitedBy }) => `${chain}: the time is set by chains.${chain}.${limitedBy}.`),
    ...more,
    `Sampling took ${countOf(spent.calls, 'call')}, ${bytesText(spent.bytes)} and ${durationText(spent.seconds)}.`,
  ]
  const inRoom = (text: string): string => fitted(text, { output: process.stdout })
  return [
    inRoom(areEmpty ? `${capital(emptyText(plans))}.` : verdictOf(plans, price)),
    '',
    ...(areEmpty ? [] : [tableOf(plans), '']),
    ...notes.map(inRoom),
  ].join('\n')
}

/** The answer in one sentence. */
function verdictOf(plans: readonly ChainPlan[], price: string): string {
  const failed = plans.filter(({ failure }) => failure !== undefined).map(({ name }) => name)
  const known = plans.filter(({ works }) => works.length > 0).map(({ name }) => name)
  const lacking = failed.length === 0 ? '' : ` Not estimated: ${failed.join(', ')}.`
  if (known.length === 0) return `No chain could be estimated.${lacking}`
  const chains = known.length <= listedMax ? known.join(', ') : countOf(known.length, 'chain')
  return `Estimate: indexing ${chains} takes about ${costText(totalOf(plans))}${price}.${lacking}`
}

export function costText({ seconds, senders_seconds, disk_bytes, calls }: Figures): string {
  const wallets = senders_seconds === 0 ? '' : ` (then ${durationText(senders_seconds)} for wallets)`
  return `${durationText(Math.max(1, seconds))}${wallets}, ${bytesText(disk_bytes)} of disk and ${countOf(calls, 'call')}`
}

function isEmpty({ works, missing, failure }: ChainPlan): boolean {
  return works.length + missing.length === 0 && failure === undefined
}

function capital(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`
}

/** Why nothing is estimated. */
function emptyText(plans: readonly ChainPlan[]): string {
  if (plans.some(({ sources }) => sources.length > 0)) return 'no source has a block: nothing would be indexed'
  return plans.some(({ notFinal }) => notFinal > 0)
    ? 'no block is final yet: there is no history to estimate'
    : 'no contract is configured: nothing is indexed until one is requested'
}

/** A row for each part, or for a chain that has none; a column for what differs. */
function tableOf(plans: readonly ChainPlan[]): string {
  const works = plans.flatMap(plan => plan.works)
  const hasSources = plans.some(({ sources }) => sources.length > 0)
  const shown = columns.filter(({ figure }) => figure !== 'senders_seconds' || works.some(({ senders }) => senders))
  const cells = (figures: Figures) => shown.map(({ figure }) => formats[figure](figures[figure]))
  const rowOf = (chain: string, what: string, source: string, blocks: string, figures: readonly string[]) => [
    ...[chain, what, ...(hasSources ? [source] : []), blocks, ...figures],
  ]
  const unknown = shown.map(() => '-')
  const rows = plans.flatMap(({ name, works, failure }) => {
    const what = failure === undefined ? 'nothing yet' : 'failed'
    if (works.length === 0) return [rowOf(name, what, '-', '-', unknown)]
    return works.map(work => {
      const blocks = countText(work.estimate.blocks)
      const what = work.contract ?? (work.ledger === 'erc20' ? 'ERC-20 tokens' : 'everything')
      const codeless = work.isCodeless ? ', not a contract' : ''
      return rowOf(name, `${what}${codeless}`, work.source, blocks, cells(figuresOf(work)))
    })
  })
  const total = works.length < 2 ? [] : [rowOf('total', '', '', '', cells(totalOf(plans)))]
  const heading = [
    ...[{ title: 'CHAIN' }, { title: 'WHAT', min: 12 }, ...(hasSources ? [{ title: 'SOURCE', drop: 3 }] : [])],
    ...[{ title: 'BLOCKS', drop: 1 }, ...shown],
  ]
  return fittedTable(heading, [...rows, ...total])
}

/** Which blocks come from where, where that is not from nodes alone. */
function sourceLines({ name, works, missing, sources, isArchive }: ChainPlan): string[] {
  if (sources.length === 0) return []
  const parts = works.map(({ source, sourceName, intervals }) => {
    const from = sourceName === undefined ? source : `${source} (${printable(sourceName)})`
    return `${name}: blocks ${intervalsText(intervals)} come from ${from}.`
  })
  const lacks =
    missing.length === 0 ? [] : [`${name}: no source has blocks ${intervalsText(missing)}: they stay missing.`]
  return [
    ...parts,
    ...lacks,
    ...(isArchive ? [`${name}: no node is configured: the head is the highest block of its sources.`] : []),
    ...sources.flatMap(source => refusalLines(name, source)),
    ...works.flatMap(({ senders }) => (senders === undefined ? [] : [sendersLine(name, senders)])),
  ]
}

const listedMax = 5

function intervalsText(intervals: readonly Interval[]): string {
  const some = intervals.slice(-listedMax).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`))
  const rest = intervals.length - some.length
  const more = rest === 0 ? '' : ` and ${countText(rest)} stretches below`
  const blocks = blockCount(intervals)
  return `${some.join(', ')}${more} (${blocks === 1 ? 'one' : countText(blocks)} in all)`
}

function refusalLines(chain: string, { kind, name, state, reason, refused }: SourceStatus): string[] {
  const unused = refused.slice(0, listedMax).map(({ name: each, block, reason: why }) => {
    return `${chain}: not used: ${printable(each)}: ${block === undefined ? '' : `block ${block} `}${printable(why)}.`
  })
  const rest = refused.length - unused.length
  return [
    ...(state === 'ready' ? [] : [`${chain}: ${kind} (${printable(name)}): ${printable(reason ?? 'has no blocks')}.`]),
    ...unused,
    ...(rest === 0 ? [] : [`${chain}: not used: ${countText(rest)} more.`]),
  ]
}

function sendersLine(chain: string, { transactions, seconds }: NonNullable<Work['senders']>): string {
  return `${chain}: wallets fill after all transfers are there, in a pass of ${durationText(seconds)}: ${countText(transactions)} senders are recovered from signatures.`
}

function machineLine({ chain }: Work): string {
  return `${chain}: the endpoints are faster than two cores index; more cores take less time.`
}

/** Some are never final yet; that much of a history is worth a word. */
const notFinalShare = 0.02

function notFinalLine({ name, works, notFinal }: ChainPlan): string[] {
  const planned = works.reduce((sum, { estimate }) => sum + estimate.blocks, 0)
  if (notFinal <= planned * notFinalShare) return []
  return [
    `${name}: ${countOf(notFinal, 'block')} ${notFinal === 1 ? 'is not final and is' : 'are not final and are'} left out.`,
  ]
}

function codelessLine({ chain, contract, isCodeless }: Work): string[] {
  if (isCodeless !== true) return []
  return [`${chain} has no code at ${contract}: not a contract. Take it out of chains.${chain}.contracts.`]
}

/** What the activity of wallets costs, or that it is left out. */
function viewsLines({ name, works }: ChainPlan): string[] {
  const whole = works.filter(({ contract }) => contract === undefined)
  if (whole.length === 0) return []
  const bytes = whole.reduce((sum, { activityBytes }) => sum + activityBytes, 0)
  return whole[0]!.views.includes('activity')
    ? [
        `${name}: the activity of wallets takes ${bytesText(bytes)} of the disk; chains.${name}.views: [transfers] leaves it out.`,
      ]
    : [`${name}: the activity of wallets is left out by chains.${name}.views, and no address is counted.`]
}
