// Asks both sides the same questions, one after the other, and collects what differs. What stops it is part of the
// result: everything that was compared until then counts.
import { AlmanacError, toPlain } from '../../errors.ts'
import type { LookUp } from './look-up.ts'
import { type Compared, compareRuns, type Finding, type Run } from './match.ts'
import type { Operation, Row, Subject } from './operations.ts'
import type { ComparedChain, Question } from './sample.ts'
import { type Answer, cursorIn, messageIn, type Side, type Target } from './side.ts'

/** How far cursors are followed. */
const pagesMax = 2
/** Failures in a row after which a side counts as gone. */
const failuresMax = 3

export type FoundDifference = Finding & { operation: string; subject: Subject }

export type OperationResult = {
  operation: string
  questions: number
  equal: number
  expected: number
  different: number
  /** Questions with an answer that rests on an index that is not complete here. */
  incomplete: number
  notAsked: number
  /** Why questions were not compared, with how many. */
  skipped: Map<string, number>
}

export type RunResult = {
  operations: OperationResult[]
  findings: FoundDifference[]
  stopped: AlmanacError | undefined
}

type Sides = { here: Side; there: Side }
export type RunOptions = Sides & {
  questions: readonly Question[]
  chains: readonly ComparedChain[]
  lookUp: LookUp
  onQuestion: (done: number) => void
}

type Outcome = { findings: Finding[]; isIncomplete: boolean } | { skipped: string; always: boolean }

export async function runComparison(options: RunOptions): Promise<RunResult> {
  const { questions, onQuestion } = options
  const results = new Map(questions.map(({ operation: { id } }) => [id, emptyResult(id)]))
  const findings: FoundDifference[] = []
  const notServed = new Map<string, string>()
  let stopped: AlmanacError | undefined
  let failures = 0
  for (const [at, question] of questions.entries()) {
    const { operation, subject } = question
    const result = results.get(operation.id)!
    const served = `${operation.id} ${subject.chain}`
    const known = notServed.get(served)
    if (stopped !== undefined || known !== undefined) {
      if (known === undefined) result.notAsked++
      else countSkipped(result, known)
      continue
    }
    try {
      const outcome = await compareQuestion(question, options)
      failures = 0
      if ('skipped' in outcome) {
        countSkipped(result, outcome.skipped)
        if (outcome.always) notServed.set(served, outcome.skipped)
      } else {
        countOutcome(result, outcome)
        findings.push(...outcome.findings.map(finding => ({ ...finding, operation: operation.id, subject })))
      }
    } catch (error) {
      if (!(error instanceof AlmanacError)) throw error
      failures++
      if (!isPassing(error) || failures >= failuresMax || at === 0) {
        stopped = error
        result.notAsked++
      } else countSkipped(result, toPlain(error).message)
    }
    onQuestion(at + 1)
  }
  return { operations: [...results.values()], findings, stopped }
}

function emptyResult(operation: string): OperationResult {
  const counts = { questions: 0, equal: 0, expected: 0, different: 0, incomplete: 0, notAsked: 0 }
  return { operation, ...counts, skipped: new Map() }
}

function countSkipped({ skipped }: OperationResult, why: string): void {
  skipped.set(why, (skipped.get(why) ?? 0) + 1)
}

function countOutcome(result: OperationResult, { findings, isIncomplete }: Extract<Outcome, { findings: unknown }>) {
  result.questions++
  if (isIncomplete) result.incomplete++
  if (findings.some(({ reason }) => reason === undefined)) result.different++
  else if (findings.length > 0) result.expected++
  else result.equal++
}

/** One question may fail and the next may not. */
function isPassing({ code }: AlmanacError): boolean {
  return ['timeout', 'upstream_failed', 'upstream_invalid', 'answer_too_large'].includes(code)
}

async function compareQuestion(question: Question, options: RunOptions): Promise<Outcome> {
  const { operation, subject, block } = question
  const outcome = await askBoth(question, options)
  if ('skipped' in outcome || isExplained(outcome)) return outcome
  if (operation.isOfMoment) {
    const again = await askBoth(question, options)
    if ('skipped' in again || isExplained(again)) return again
    const isMoving = JSON.stringify(again.findings) !== JSON.stringify(outcome.findings)
    return { ...again, findings: isMoving ? withReason(again.findings, 'moving') : again.findings }
  }
  return { ...outcome, findings: await options.lookUp.explain(outcome.findings, { operation, subject, block }) }
}

function isExplained({ findings }: { findings: readonly Finding[] }): boolean {
  return findings.every(({ reason }) => reason !== undefined)
}

function withReason(findings: readonly Finding[], reason: 'moving'): Finding[] {
  return findings.map(finding => ({ ...finding, reason: finding.reason ?? reason }))
}

async function askBoth({ operation, subject, block }: Question, { here, there, chains }: RunOptions): Promise<Outcome> {
  const asked = { block, chains: chains.map(({ chain }) => chain) }
  const target = operation.target(subject as never, asked)
  const [mine, theirs] = await Promise.all([
    collectHere(here, operation, target, block),
    collect(there, operation, target),
  ])
  const skipped = notServed(mine, here) ?? notServed(theirs, there)
  if (skipped !== undefined) return skipped
  const isIncomplete = mine.complete === false
  if (mine.run === undefined || theirs.run === undefined)
    return { findings: statusFindings(mine, theirs), isIncomplete }
  const blockOf = (row: Row | undefined) => chains.find(({ chain }) => chain === row?.chain)?.block ?? block
  const compared: Compared = { operation, here: mine.run, there: theirs.run, blockOf }
  return { findings: compareRuns(compared), isIncomplete }
}

/** `run` is absent where the first page was refused. */
type Collected = Answer & { run?: Run }

async function collectHere(side: Side, operation: Operation, target: Target, block: number): Promise<Collected> {
  if (!operation.asOf) return await collect(side, operation, target)
  const past = await collect(side, operation, { ...target, query: { ...target.query, at_block: `${block}` } })
  // Too much to fold for a page; as of the head it is kept.
  return past.status === 422 ? await collect(side, operation, target) : past
}

async function collect(side: Side, { parts, isPaged }: Operation, target: Target): Promise<Collected> {
  const first = await side.ask(target)
  if (first.status !== 200) return first
  const { record, rows } = parts(first.body)
  const collected = [...rows]
  let cursor = cursorIn(first.body)
  let complete = first.complete
  for (let page = 1; isPaged && cursor !== undefined && page < pagesMax; page++) {
    const next = await side.ask({ ...target, query: { ...target.query, cursor } })
    if (next.status !== 200) break
    collected.push(...parts(next.body).rows)
    complete = complete === false ? false : next.complete
    cursor = cursorIn(next.body)
  }
  const run = { parts: { record, rows: collected }, isWhole: cursor === undefined, complete }
  return { ...first, run: { ...run, incompleteChains: first.incompleteChains } }
}

/** Why an answer cannot be compared; `always`: nor can another one to this operation on this chain. */
function notServed({ status, body }: Answer, { name }: Side): Extract<Outcome, { skipped: string }> | undefined {
  const said = messageIn(body)
  const code = (body as { code?: unknown } | undefined)?.code
  if (status === 501 || status === 410 || status === 405 || code === 'not_configured')
    return { skipped: `not served ${name} (${status}: ${said})`, always: true }
  if (status === 403) return { skipped: `the key may not ask it ${name} (403: ${said})`, always: true }
  if (status === 400 && /\bchains?\b/.test(said))
    return { skipped: `the chain is not served ${name} (400: ${said})`, always: true }
  if (status >= 500 || status === 408) return { skipped: `not answered ${name} (${status}: ${said})`, always: false }
  return undefined
}

function statusFindings(here: Collected, there: Collected): Finding[] {
  if (here.status === there.status) return []
  const shown = ({ status, body }: Answer) => (status === 200 ? '200' : `${status}: ${messageIn(body)}`)
  const reason = isUnindexed(here) ? 'incomplete_here' : isUnindexed(there) ? 'incomplete_there' : undefined
  return [{ kind: 'status', field: 'status', here: shown(here), there: shown(there), row: undefined, reason }]
}

/** Almanac says in a 404 whether what it rests on is indexed. */
function isUnindexed({ status, body, complete }: Answer): boolean {
  const details = (body as { details?: { index_complete?: unknown } } | undefined)?.details
  return status === 404 && (complete === false || details?.index_complete === false)
}
