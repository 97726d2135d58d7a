// What answers show of a contract, decided from what is known and what was said of it. Pure: no store, no clock.
import type { ContractFacts, Label, Mark } from '../store/annotation-store.ts'
import type { Store } from '../store/store.ts'

export type ShownFacts = {
  name: string | undefined
  symbol: string | undefined
  possibleSpam: boolean
  verifiedCollection: boolean
}

/** Which mark decided; `rules`: no mark did, so the score stands; `verified`: a verified collection is not taken for spam. */
export type Verdict = { value: boolean; by: Mark | 'rules' | 'verified' | 'nobody' }

/**
 * `marks` come strongest first. The operator's pins win, then imported lists, then the pack, then the rules. What the rules
 * say does not count against a collection that is verified: only a mark can call such a one spam.
 */
export function verdictsOf(
  facts: ContractFacts | undefined,
  marks: readonly Mark[],
): { verified: Verdict; spam: Verdict } {
  const verifiedMark = marks.find(mark => mark.verified !== undefined)
  const spamMark = marks.find(mark => mark.spam !== undefined)
  const verified: Verdict =
    verifiedMark === undefined
      ? { value: false, by: 'nobody' }
      : { value: verifiedMark.verified as boolean, by: verifiedMark }
  if (spamMark !== undefined) return { verified, spam: { value: spamMark.spam as boolean, by: spamMark } }
  if (verified.value) return { verified, spam: { value: false, by: 'verified' } }
  return { verified, spam: { value: facts?.possibleSpam ?? false, by: 'rules' } }
}

/** Undefined where nothing is known and nobody said anything. */
export function shownFacts(facts: ContractFacts | undefined, marks: readonly Mark[]): ShownFacts | undefined {
  if (facts === undefined && marks.length === 0) return undefined
  const { verified, spam } = verdictsOf(facts, marks)
  return { name: facts?.name, symbol: facts?.symbol, possibleSpam: spam.value, verifiedCollection: verified.value }
}

// The names of the sources that Almanac gives itself, and how a source is forgotten.

/** What the operator says by command. */
export const operatorSource = 'operator'
/** What comes with this version. */
export const packSource = 'built-in'

/** Lists of others cannot pass for these. */
export const reservedSources: ReadonlySet<string> = new Set([operatorSource, packSource])

const rowsPerPage = 5_000

/** Removes labels of a source, or only those older than `before`, page by page, so that other writers get their turn. */
export async function forgetLabels(store: Store, source: string, before = Number.POSITIVE_INFINITY): Promise<number> {
  let removed = 0
  for await (const page of pagesOf<Label>(after => store.labels({ source }, after, rowsPerPage)))
    removed += await store.removeLabels(page.filter(({ updatedAt }) => updatedAt < before))
  return removed
}

export async function forgetMarks(store: Store, source: string, before = Number.POSITIVE_INFINITY): Promise<number> {
  let removed = 0
  for await (const page of pagesOf<Mark>(after => store.marks({ source }, after, rowsPerPage)))
    removed += await store.removeMarks(page.filter(({ updatedAt }) => updatedAt < before))
  return removed
}

/** The pages of a walk, each read behind the last row of the one before. */
export async function* pagesOf<Row>(read: (after: Row | undefined) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let page = await read(undefined); page.length > 0; page = await read(page.at(-1))) yield page
}
