// The names of the sources that Almanac gives itself, and how a source is forgotten.
import type { Label } from '../store/label-store.ts'
import type { Mark } from '../store/mark-store.ts'
import type { Store } from '../store/store.ts'

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
