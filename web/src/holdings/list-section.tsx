// A list of who owns what in a panel: on its way, refused, empty, or a page of rows with the way to the next.
import type { ComponentChildren } from 'preact'
import { useDownloads, type WholeList } from '../downloads/use-downloads.tsx'
import { isConfigured } from '../parts/chain-link.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { NotConfigured } from '../parts/not-configured.tsx'
import { Paging } from '../parts/paging.tsx'
import { Panel } from '../parts/panel.tsx'
import { status } from '../state/live.ts'
import { cursorOf } from '../state/page-trail.ts'
import { hrefOf } from '../state/route.ts'
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
  rests: { on: 'contract' | 'chain' | 'tokens'; chain: string }
  /** Where all of it can be taken at once. */
  whole?: WholeList
  hrefTo: (cursor: string | undefined) => string
  /** What to do where there are none, beside looking at the chain. */
  action?: ComponentChildren
  /** Undefined while they are on their way. */
  children: (rows: readonly Row[] | undefined) => ComponentChildren
}

export function ListSection<Row>({ id, title, state, firstPage, nothing, rests, whole, hrefTo, ...props }: Props<Row>) {
  const { loading, answered, problem, again } = state
  const { actions, note } = useDownloads(title, whole)
  const isFirst = answered === undefined || Number(answered.data.page) === firstPage
  // Of a list without rows there is nothing to take.
  const isTaken = problem === undefined && !(isFirst && answered?.data.result.length === 0)
  const page = answered && Number(answered.data.page) - firstPage + 1
  return (
    <Panel id={id} title={title} actions={isTaken && actions} flush busy={loading}>
      {note}
      {answered === undefined && problem === undefined && props.children(undefined)}
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
            <NothingFound rests={rests} nothing={isComplete(answered) ? nothing : undefined} action={props.action} />
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

type NothingProps = Pick<Props<unknown>, 'rests' | 'action'> & {
  /** Undefined where more may be found later. */
  nothing: string | undefined
}

/** Why there are no rows: there are none, not yet, or never, because the chain is not indexed. */
export function NothingFound({ rests, nothing, action }: NothingProps) {
  const { chain } = rests
  if (nothing === undefined && isConfigured(chain) === false) return <NotConfigured chain={chain} action={action} />
  return (
    <EmptyState
      title={nothing ?? 'Nothing was found yet'}
      action={
        <>
          {action}
          {isConfigured(chain) && (
            <a class="button" href={hrefOf(['chain', chain])}>
              Contracts of {chain}
            </a>
          )}
        </>
      }
    >
      {nothing === undefined ? syncingText(rests) : 'The index is complete: no block was left out.'}
    </EmptyState>
  )
}

function Syncing({ rests }: Pick<Props<unknown>, 'rests'>) {
  return (
    <p class="note note-warn">
      {isConfigured(rests.chain) !== false && (
        <strong>{isOnDemand(rests) ? 'Not indexed as a whole. ' : 'Still indexing. '}</strong>
      )}
      {syncingText(rests)}
    </p>
  )
}

/** No block is waited for: only what is asked for is indexed. */
function isOnDemand({ on, chain }: Props<unknown>['rests']): boolean {
  const { index, erc20 } = status.value?.chains[chain] ?? {}
  return on === 'tokens' ? erc20?.index !== 'full' : on === 'chain' && index === 'on-demand'
}

export function syncingText(rests: Props<unknown>['rests']): string {
  const { on, chain } = rests
  if (isConfigured(chain) === false)
    return `${chain} is not configured here: what is stored of it is shown, and rows may be missing.`
  if (on === 'contract') return 'The history of this contract is not complete yet: rows may be missing.'
  if (on === 'tokens' && isOnDemand(rests))
    return 'Only tokens that somebody asked for are indexed, so rows may be missing.'
  return isOnDemand(rests)
    ? `${chain} is indexed on demand: only contracts that were asked for are known, so rows may be missing.`
    : `Not every block of ${chain} is indexed yet: rows may be missing.`
}
