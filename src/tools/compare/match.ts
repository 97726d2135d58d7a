// Compares two answers to one question, field by field and row by row. Pure: what it cannot tell is left to be looked
// up.
import type { Operation, Parts, Row, RowKind } from './operations.ts'
import { knownReason, type Reason } from './reasons.ts'

/** What one side answered: the first page's fields, and the rows of all pages that were asked for. */
export type Run = {
  parts: Parts
  /** The last page was among them. */
  isWhole: boolean
  complete: boolean | undefined
  incompleteChains: readonly string[]
}

export type Finding = {
  kind: 'value' | 'missing_here' | 'missing_there' | 'order' | 'status'
  field: string
  here: unknown
  there: unknown
  row: Row | undefined
  /** Undefined: not expected. */
  reason: Reason | undefined
}

export type Compared = {
  operation: Operation
  here: Run
  there: Run
  /** The block up to which both sides are compared, by the chain of a row; that of the question where it has none. */
  blockOf: (row: Row | undefined) => number
}

export function compareRuns(compared: Compared): Finding[] {
  const { operation, here, there } = compared
  const fields = compareFields(here.parts.record, there.parts.record, undefined, compared)
  return operation.rows === undefined ? fields : [...fields, ...compareRows(operation.rows, compared)]
}

function compareFields(here: Row, there: Row, row: Row | undefined, compared: Compared): Finding[] {
  return [...differingFields(here, there)].map(([field, mine, theirs]) => ({
    ...{ kind: 'value' as const, field, here: mine, there: theirs, row },
    reason:
      knownReason(field, mine, theirs) ??
      (isChanged(field, [mine, theirs, here, there], compared) ? 'changed' : incompleteReason(row, compared)),
  }))
}

function* differingFields(here: unknown, there: unknown, path = ''): Generator<[string, unknown, unknown]> {
  if (isRow(here) && isRow(there)) {
    for (const key of new Set([...Object.keys(here), ...Object.keys(there)]))
      yield* differingFields(here[key], there[key], path === '' ? key : `${path}.${key}`)
  } else if (Array.isArray(here) && Array.isArray(there) && here.length === there.length) {
    for (const [at, each] of here.entries()) yield* differingFields(each, there[at], `${path}[${at}]`)
  } else if (JSON.stringify(here) !== JSON.stringify(there)) yield [path, here, there]
}

/** The record, or a transaction within it, is of a block after the one that both are compared up to. */
function isChanged(field: string, values: readonly unknown[], { blockOf }: Compared): boolean {
  const [parent] = field.split('.')
  const rows = values.filter(isRow)
  const block = blockOf(rows.at(-1))
  return rows.flatMap(row => [row, row[parent!]]).some(each => isRow(each) && Number(each.block_number) > block)
}

/** What rests on other blocks than its own may be wrong while blocks are missing. */
function incompleteReason(row: Row | undefined, compared: Compared): Reason | undefined {
  if (compared.operation.rows?.isOfBlock) return undefined
  if (isIncomplete(compared.here, row)) return 'incomplete_here'
  return isIncomplete(compared.there, row) ? 'incomplete_there' : undefined
}

function isIncomplete({ complete, incompleteChains }: Run, row: Row | undefined): boolean {
  if (complete !== false) return false
  return incompleteChains.length === 0 || row === undefined || incompleteChains.includes(String(row.chain))
}

function compareRows(kind: RowKind, compared: Compared): Finding[] {
  const { here, there } = compared
  const isKept = (row: Row) => !(Number(row.block_number) > compared.blockOf(row))
  const grouped = [here, there].map(({ parts: { rows } }) => Map.groupBy(rows, kind.group))
  const [mine, theirs] = grouped as [Map<string, Row[]>, Map<string, Row[]>]
  const findings: Finding[] = []
  for (const group of new Set([...mine.keys(), ...theirs.keys()])) {
    const [all, others] = [mine.get(group) ?? [], theirs.get(group) ?? []]
    // Something of the group changed since: what is not there any more is no news.
    const hasChanged = [...all, ...others].some(row => !isKept(row)) && !kind.isOfBlock
    const pairs = paired(all.filter(isKept), others.filter(isKept), kind)
    for (const [row, other] of pairs) {
      if (row !== undefined && other !== undefined) findings.push(...compareFields(row, other, row, compared))
      else if (isRequired((row ?? other)!, row === undefined ? here : there, kind))
        findings.push(missing(row, other, { hasChanged, compared }))
    }
  }
  return kind.isOfBlock ? [...findings, ...orderFindings(kind, here, there)] : findings
}

type Pair = [here: Row | undefined, there: Row | undefined]

/** Alone in its group a row is the same thing, whatever else it says; several are told apart. */
function paired(here: readonly Row[], there: readonly Row[], kind: RowKind): Pair[] {
  const [first, second] = [here[0], there[0]]
  if (here.length === 1 && there.length === 1 && isSingle(first!) && isSingle(second!)) return [[first, second]]
  const left = Map.groupBy(there, kind.member)
  const pairs = here.map((row): Pair => [row, left.get(kind.member(row))?.shift()])
  return [...pairs, ...[...left.values()].flat().map((row): Pair => [undefined, row])]
}

/** One event moves it, one wallet holds it. */
function isSingle({ transaction_type, contract_type }: Row): boolean {
  return transaction_type === undefined ? contract_type !== 'ERC1155' : transaction_type !== 'Batch'
}

/** Whether a list that was read as far as this one must have shown the row. */
function isRequired(row: Row, { parts, isWhole }: Run, { place, order }: RowKind): boolean {
  if (isWhole || place === undefined) return true
  const places = parts.rows.map(place)
  const isBefore = (one: string, other: string) => (order === 'ascending' ? one < other : one > other)
  const last = places.at(-1)
  const isSorted = places.every((each, at) => at === 0 || !isBefore(each, places[at - 1]!))
  return last !== undefined && isSorted && isBefore(place(row), last)
}

function missing(here: Row | undefined, there: Row | undefined, about: { hasChanged: boolean; compared: Compared }) {
  const { hasChanged, compared } = about
  const [kind, row, run] =
    here === undefined
      ? (['missing_here', there, compared.here] as const)
      : (['missing_there', here, compared.there] as const)
  const known = kind === 'missing_here' ? ('incomplete_here' as const) : ('incomplete_there' as const)
  const isEmptyAccount = kind === 'missing_here' && row?.amountRaw !== undefined && String(row.amountRaw) === '0'
  const reason: Reason | undefined = hasChanged
    ? 'changed'
    : isIncomplete(run, row)
      ? known
      : isEmptyAccount
        ? 'empty'
        : undefined
  return { kind, field: '', here, there, row, reason } satisfies Finding
}

/** Rows that both show come in the same order, those of one event aside. */
function orderFindings(kind: RowKind, here: Run, there: Run): Finding[] {
  const groupsOf = ({ parts: { rows } }: Run) => [...new Set(rows.map(kind.group))]
  const [mine, theirs] = [groupsOf(here), groupsOf(there)]
  const [inMine, inTheirs] = [new Set(mine), new Set(theirs)]
  const [one, other] = [mine.filter(group => inTheirs.has(group)), theirs.filter(group => inMine.has(group))]
  const at = one.findIndex((group, index) => group !== other[index])
  if (at === -1) return []
  return [{ kind: 'order', field: '', here: one[at], there: other[at], row: undefined, reason: undefined }]
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
