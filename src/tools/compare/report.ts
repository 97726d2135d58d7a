// What a comparison found, as JSON for programs and as text for people.

import { commandLine } from '../../cli/current-process.ts'
import { countText, paint, printable, table } from '../../cli/terminal.ts'
import { messageWithCauses } from '../../errors.ts'
import type { Row, Subject } from './operations.ts'
import type { Prepared } from './prepare.ts'
import { type Reason, reasons } from './reasons.ts'
import type { FoundDifference, RunResult } from './run.ts'

/** Of each field of an operation, so that one that differs everywhere leaves room for the others. */
const listedOfField = 5
const valueCharactersMax = 100

export type ReportFacts = {
  here: string
  there: string
  seed: number
  sent: number
  budget: number
  prepared: Prepared
  result: RunResult
}

export type Report = ReturnType<typeof reportOf>

/** Its fields are a contract: they are added to, never changed. */
export function reportOf({ here, there, seed, sent, budget, prepared, result }: ReportFacts) {
  const unexpected = distinct(result.findings.filter(({ reason }) => reason === undefined))
  const groups = [...Map.groupBy(unexpected, ({ operation, kind, field }) => [operation, kind, field].join()).values()]
  const questions = sumOf(result.operations.map(each => each.questions))
  return {
    same: unexpected.length === 0 && questions > 0,
    here,
    there,
    seed,
    requests: { sent, max: budget },
    chains: Object.fromEntries(
      prepared.chains.map(({ chain, block, headHere, headThere }) => {
        return [chain, { block, head_here: headHere, head_there: headThere }] as const
      }),
    ),
    chains_left_out: Object.fromEntries(prepared.left.map(({ chain, why }) => [chain, why])),
    questions,
    operations: result.operations.map(({ notAsked, skipped, ...counts }) => ({
      ...counts,
      not_asked: notAsked,
      not_compared: Object.fromEntries(skipped),
    })),
    stopped: result.stopped === undefined ? null : messageWithCauses(result.stopped),
    expected: expectedOf(result.findings),
    differences_total: unexpected.length,
    differences_by_field: groups.map(({ length: count, 0: first }) => ({
      ...{ operation: first!.operation, kind: first!.kind, field: first!.field || null, count },
    })),
    differences: groups.flatMap(group => group.slice(0, listedOfField)).map(shownDifference),
  }
}

/** Several questions may show the same row. */
function distinct<Found extends FoundDifference>(findings: readonly Found[]): Found[] {
  return [...new Map(findings.map(found => [JSON.stringify(shownDifference(found)), found])).values()]
}

function expectedOf(findings: readonly FoundDifference[]) {
  const known = distinct(findings).filter(
    (each): each is FoundDifference & { reason: Reason } => each.reason !== undefined,
  )
  const groups = Map.groupBy(known, ({ reason, field, kind }) => `${reason} ${field === '' ? kind : field}`)
  return [...groups.values()]
    .map(group => {
      const { reason, field, kind, operation, subject, here, there, row } = group[0]!
      return {
        ...{ field: field === '' ? kind : field, reason, because: reasons[reason], count: group.length },
        operations: [...new Set(group.map(each => each.operation))],
        example: { operation, ...shownSubject(subject), ...shownRow(row), here: shown(here), there: shown(there) },
      }
    })
    .sort((a, b) => b.count - a.count)
}

function shownDifference(difference: FoundDifference) {
  const { operation, subject, kind, field, here, there, row } = difference
  return {
    ...{ operation, ...shownSubject(subject), ...shownRow(row), kind, field: field || null },
    // Of a row that is missing `row` says enough.
    ...(field === '' && kind !== 'order' ? { here: null, there: null } : { here: shown(here), there: shown(there) }),
    hint: hintOf(subject, row),
  }
}

type ShownSubject = { chain?: string; network?: string; address?: string; block?: number; token_id?: string }

function shownSubject(subject: Subject): ShownSubject {
  const { kind, chain } = subject
  const name = kind === 'account' || kind === 'mint' || kind === 'nft-mint' ? 'network' : 'chain'
  return {
    [name]: chain,
    ...('address' in subject ? { address: subject.address } : { block: subject.block }),
    ...('tokenId' in subject ? { token_id: subject.tokenId } : {}),
  }
}

const rowFields = [
  ...['block_number', 'transaction_hash', 'log_index', 'token_address', 'token_id', 'owner_of', 'owner_address'],
  ...['chain_id', 'associatedTokenAddress', 'mint'],
]

/** What tells the row from others. */
function shownRow(row: Row | undefined): { row?: Record<string, Shown> } {
  if (row === undefined) return {}
  const fields = rowFields.filter(field => row[field] !== undefined)
  return { row: Object.fromEntries(fields.map(field => [field, shown(row[field])])) }
}

function hintOf(subject: Subject, row: Row | undefined): string | null {
  const isOfChain = ['contract', 'wallet', 'token', 'erc20', 'block'].includes(subject.kind)
  const contract =
    row?.token_address ?? (subject.kind === 'wallet' || !('address' in subject) ? undefined : subject.address)
  if (!isOfChain || contract === undefined) return null
  const place = row?.transaction_hash === undefined ? '' : ` --transfer ${row.transaction_hash}:${row.log_index}`
  const chain = /\s/.test(subject.chain) ? `"${subject.chain}"` : subject.chain
  return printable(`${commandLine} explain ${chain} ${contract}${place}`)
}

type Shown = string | number | boolean | null

/** Plain values as they are, others as JSON; long ones cut. */
function shown(value: unknown): Shown {
  if (value === undefined || value === null) return null
  if (typeof value === 'number' || typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= valueCharactersMax ? text : `${text.slice(0, valueCharactersMax)}…`
}

export function describeReport(report: Report): string {
  const chains = Object.entries(report.chains).map(([chain, { block, head_here, head_there }]) => {
    const heads = `head here ${head_here}, there ${head_there ?? 'unknown'}`
    return `${printable(chain)} up to block ${block} (${heads})`
  })
  const left = Object.entries(report.chains_left_out).map(([chain, why]) => printable(`${chain} left out: ${why}`))
  const heading = ['OPERATION', 'QUESTIONS', 'EQUAL', 'EXPECTED', 'DIFFERENT', 'INCOMPLETE HERE']
  const rows = report.operations
    .filter(({ questions }) => questions > 0)
    .map(({ operation, questions, equal, expected, different, incomplete }) => [
      ...[operation, ...[questions, equal, expected, different, incomplete].map(countText)],
    ])
  return [
    `Compared ${report.here} with ${report.there}, seed ${report.seed}.`,
    ...chains,
    ...left,
    ...(rows.length === 0 ? [] : [table(heading, rows)]),
    ...section('Not compared', notComparedLines(report)),
    ...section('Expected', expectedLines(report)),
    ...section('Differences', differenceLines(report)),
    paint.bold(summaryOf(report)),
  ].join('\n')
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [paint.bold(`${title}:`), ...lines.map(line => `  ${line}`)]
}

function notComparedLines({ operations }: Report): string[] {
  return operations.flatMap(({ operation, not_asked, not_compared }) => [
    ...Object.entries(not_compared).map(([why, count]) => printable(`${operation}, ${countText(count)}: ${why}`)),
    ...(not_asked === 0 ? [] : [`${operation}, ${countText(not_asked)}: not asked`]),
  ])
}

function expectedLines({ expected }: Report): string[] {
  return expected.map(({ field, because, count, operations }) =>
    printable(`${countText(count)} of ${field} (${operations.join(', ')}): ${because}`),
  )
}

type Difference = Report['differences'][number]

/** Under what was asked, each row that differs; what stands there already is not said again. */
function differenceLines({ differences, differences_by_field }: Report): string[] {
  const asked = Map.groupBy(differences, each => [each.operation, ...Object.values(subjectIn(each))].join(' '))
  const listed = [...asked].flatMap(([about, group]) => {
    // Why a row is missing is what `explain` knows most of.
    const hint = (group.find(({ field }) => field === null) ?? group[0]!).hint
    const lines = group.map(each => printable(`  ${differenceText(each)}`))
    return [printable(about), ...lines, ...(hint === null ? [] : [`  Try: ${hint}`])]
  })
  const more = differences_by_field.flatMap(({ operation, kind, field, count }) => {
    const left = count - Math.min(count, listedOfField)
    return left === 0 ? [] : [`and ${countText(left)} more of ${operation}: ${field ?? wordOf(kind)}`]
  })
  return [...listed, ...more]
}

function subjectIn({ operation: _, kind, row, field, here, there, hint, ...subject }: Difference) {
  return subject
}

function differenceText(difference: Difference): string {
  const { kind, row = {}, field, here, there } = difference
  const said = new Set<unknown>(Object.values(subjectIn(difference)))
  const facts = Object.entries(row).filter(([name, value]) => !said.has(value) && name !== field)
  const place = facts.map(([name, value]) => `${name.replace(/_(number|hash|of)$/, '')} ${value}`).join(', ')
  const isMissing = kind === 'missing_here' || kind === 'missing_there'
  const says = isMissing
    ? wordOf(kind)
    : `${field ?? kind} is ${JSON.stringify(here)} here, ${JSON.stringify(there)} there`
  return place === '' ? says : `${place}: ${says}`
}

function wordOf(kind: string): string {
  return kind.replace('_', ' ')
}

function summaryOf({ questions, differences_total, operations, requests, stopped }: Report): string {
  const expected = sumOf(operations.map(each => each.expected))
  const notAsked = sumOf(operations.map(each => each.not_asked))
  const found =
    differences_total === 0
      ? 'no difference without a known reason'
      : `${countText(differences_total)} differences without a known reason`
  const asked = `${countText(requests.sent)} of at most ${countText(requests.max)} requests there`
  const open = stopped === null ? '' : ` Stopped with ${countText(notAsked)} questions not asked.`
  return `${countText(questions)} questions, ${countText(expected)} with expected differences, ${found}; ${asked}.${open}`
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
