// Decides what answers show of a contract from facts and marks, names the sources of our own, and forgets what a source
// said. No clock.
import { plainName } from '../plain-text.ts'
import type { ContractFacts, Label, Mark } from '../store/annotation-store.ts'
import type { Store } from '../store/store.ts'

export type ShownFacts = {
  name: string | undefined
  symbol: string | undefined
  /** Of a token that says so of itself. */
  decimals?: number | undefined
  possibleSpam: boolean
  verifiedCollection: boolean
}

/** The mark that decided; `rules`: no mark did, so the score decides; `verified`: a verified collection is not spam. */
export type Decision = { value: boolean; by: Mark | 'rules' | 'verified' | 'nobody' }

/**
 * `marks` come strongest first: the operator's pins win, then imported lists, then the pack, then the rules. The rules
 * do not count against a verified collection: only a mark can call it spam.
 */
export function decisionsOf(
  facts: ContractFacts | undefined,
  marks: readonly Mark[],
): { verified: Decision; spam: Decision } {
  const verifiedMark = marks.find(mark => mark.verified !== undefined)
  const spamMark = marks.find(mark => mark.spam !== undefined)
  const verified: Decision =
    verifiedMark === undefined
      ? { value: false, by: 'nobody' }
      : { value: verifiedMark.verified as boolean, by: verifiedMark }
  if (spamMark !== undefined) return { verified, spam: { value: spamMark.spam as boolean, by: spamMark } }
  if (verified.value) return { verified, spam: { value: false, by: 'verified' } }
  return { verified, spam: { value: facts?.possibleSpam ?? false, by: 'rules' } }
}

/** Undefined without facts and marks. */
export function shownFacts(facts: ContractFacts | undefined, marks: readonly Mark[]): ShownFacts | undefined {
  if (facts === undefined && marks.length === 0) return undefined
  const { verified, spam } = decisionsOf(facts, marks)
  const [name, symbol, decimals] = [shownName(facts?.name), shownName(facts?.symbol), facts?.reading?.decimals]
  const said = { name, symbol, ...(decimals === undefined ? {} : { decimals }) }
  return { ...said, possibleSpam: spam.value, verifiedCollection: verified.value }
}

/** The rules judge a name as the contract says it; readers get it without characters that change the text around it. */
export function shownName(name: string | undefined): string | undefined {
  return name === undefined ? undefined : plainName(name)
}

/** The source of the operator's commands. */
export const operatorSource = 'operator'
/** The source of the pack. */
export const packSource = 'built-in'

/** Imported lists cannot have these names. */
export const reservedSources: ReadonlySet<string> = new Set([operatorSource, packSource])

const rowsPerPage = 5_000

/** Removes labels of a source, or only those older than `before`, page by page, between which others can write. */
export async function forgetLabels(store: Store, source: string, before = Number.POSITIVE_INFINITY): Promise<number> {
  let removed = 0
  for await (const page of pagesOf<Label>(after => store.labels({ source }, after, rowsPerPage)))
    removed += await store.annotate({ removedLabels: page.filter(({ updatedAt }) => updatedAt < before) })
  return removed
}

export async function forgetMarks(store: Store, source: string, before = Number.POSITIVE_INFINITY): Promise<number> {
  let removed = 0
  for await (const page of pagesOf<Mark>(after => store.marks({ source }, after, rowsPerPage)))
    removed += await store.annotate({ removedMarks: page.filter(({ updatedAt }) => updatedAt < before) })
  return removed
}

/** Reads page after page, each after the last row of the one before. */
export async function* pagesOf<Row>(read: (after: Row | undefined) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let page = await read(undefined); page.length > 0; page = await read(page.at(-1))) yield page
}
