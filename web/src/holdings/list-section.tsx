// A list of who owns what in a panel: on its way, refused, empty, or a page of rows with the way to the next.
import type { ComponentChildren } from 'preact'
import { useDownloads, type WholeList } from '../downloads/use-downloads.tsx'
import { isConfigured } from '../parts/chain-link.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Paging } from '../parts/paging.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { status } from '../state/live.ts'
import { cursorOf } from '../state/page-trail.ts'
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

export function ListSection<Row>({ id, title, state, firstPage, nothing, rests, whole, hrefTo, ...props }: Props<Row>) {
  const { loading, answered, problem, again } = state
  const { actions, note } = useDownloads(title, whole)
  const page = answered && Number(answered.data.page) - firstPage + 1
  return (
    <Panel id={id} title={title} actions={actions} flush busy={loading}>
      {note}
      {answered === undefined && problem === undefined && <Skeleton rows={8} />}
      {problem !== undefined && (
        <>
          <FailureNote problem={problem} what={`${title} could not be loaded.`} onRetry={again} />
          {problem.parameter === 'cursor' && (
            <p class="panel-foot">
              <a href={hrefTo(undefined)}>Back to the first page</a>
            </p>
          )}
        </>
      )}
      {answered !== undefined && page !== undefined && (
        <>
          {!isComplete(answered) && answered.data.result.length > 0 && <Syncing rests={rests} />}
          {answered.data.result.length > 0 ? (
            props.children(answered.data.result)
          ) : (
            <NothingFound rests={rests} nothing={isComplete(answered) ? nothing : undefined} />
          )}
          {(page > 1 || answered.data.cursor) && (
            <Paging
              what={title}
              page={page}
              here={cursorOf(answered.response)}
              cursor={answered.data.cursor}
              hrefTo={hrefTo}
            />
          )}
        </>
      )}
    </Panel>
  )
}

type NothingProps = Pick<Props<unknown>, 'rests'> & {
  /** Undefined where more may be found later. */
  nothing: string | undefined
}

/** Why there are no rows: there are none, not yet, or never, because the chain is not indexed. */
export function NothingFound({ rests, nothing }: NothingProps) {
  if (nothing !== undefined)
    return <EmptyState title={nothing}>The index is complete: no block was left out.</EmptyState>
  if (isConfigured(rests.chain) === false)
    return (
      <EmptyState title={`${rests.chain} is not configured here`}>
        Nothing of it will be found until it is: add <code>chains.{rests.chain}</code> to the configuration.
      </EmptyState>
    )
  return <EmptyState title="Nothing was found yet">{syncingText(rests)}</EmptyState>
}

function Syncing({ rests }: Pick<Props<unknown>, 'rests'>) {
  return (
    <p class="note note-warn">
      <strong>SYNCING.</strong> {syncingText(rests)}
    </p>
  )
}

function syncingText({ on, chain }: Props<unknown>['rests']): string {
  if (isConfigured(chain) === false)
    return `${chain} is not configured here: what is stored of it is shown, and rows may be missing.`
  if (on === 'contract') return 'The history of this contract is not complete yet: rows may be missing.'
  return status.value?.chains[chain]?.index === 'on-demand'
    ? `${chain} is indexed on demand: only contracts that were asked for are known, so rows may be missing.`
    : `Not every block of ${chain} is indexed yet: rows may be missing.`
}
