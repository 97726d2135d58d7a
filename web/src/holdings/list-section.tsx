// A list of who owns what: on its way, refused, empty, or a page of rows with the way to the next.
import type { ComponentChildren } from 'preact'
import { ListHeading, type WholeList } from '../downloads/list-heading.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Paging } from '../parts/paging.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { status } from '../state/live.ts'
import type { AnswerState } from '../state/use-answer.ts'
import { isComplete } from './use-holdings.ts'

type ListPage<Row> = { page: number | string; cursor: string | null; result: readonly Row[] }

type Props<Row> = {
  id: string
  title: string
  state: AnswerState<ListPage<Row>>
  /** What the service counts the first page as. */
  firstPage: 0 | 1
  /** Said of a list without rows whose index is complete. */
  nothing: string
  /** What has to be indexed for the list to be complete. */
  rests: { on: 'contract' | 'chain'; chain: string }
  /** Where all of it can be taken at once. */
  whole?: WholeList
  hrefTo: (cursor: string | undefined) => string
  children: (rows: readonly Row[]) => ComponentChildren
}

export function ListSection<Row>({ id, title, state, firstPage, nothing, rests, whole, hrefTo, children }: Props<Row>) {
  const { loading, answered, problem } = state
  const page = answered && Number(answered.data.page) - firstPage + 1
  return (
    <section aria-labelledby={id} aria-busy={loading}>
      <ListHeading id={id} title={title} list={whole} />
      {loading && answered === undefined && <Waiting />}
      {problem !== undefined && (
        <>
          <FailureNote problem={problem} />
          {problem.parameter === 'cursor' && (
            <p>
              <a href={hrefTo(undefined)}>Back to the first page</a>
            </p>
          )}
        </>
      )}
      {answered !== undefined && page !== undefined && (
        <>
          {!isComplete(answered) && <Syncing rests={rests} />}
          {answered.data.result.length > 0 ? (
            children(answered.data.result)
          ) : (
            <p class="note">{isComplete(answered) ? nothing : 'Nothing was found yet.'}</p>
          )}
          {(page > 1 || answered.data.cursor) && (
            <Paging what={title} page={page} cursor={answered.data.cursor} hrefTo={hrefTo} />
          )}
        </>
      )}
    </section>
  )
}

function Syncing({ rests: { on, chain } }: Pick<Props<unknown>, 'rests'>) {
  const isOnDemand = status.value?.chains[chain]?.index === 'on-demand'
  return (
    <p class="note note-warn">
      <strong>SYNCING.</strong>{' '}
      {on === 'contract'
        ? 'The history of this contract is not complete yet: rows may be missing.'
        : isOnDemand
          ? `${chain} is indexed on demand: only contracts that were asked for are known, so rows may be missing.`
          : `Not every block of ${chain} is indexed yet: rows may be missing.`}
    </p>
  )
}
