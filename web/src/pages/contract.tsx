// One contract on one chain: what is known of it, and its transfers, which arrive by themselves while the newest are shown.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ContractFacts } from '../chain/contract-facts.tsx'
import { ContractHeading } from '../chain/contract-heading.tsx'
import { Explanation } from '../chain/explanation.tsx'
import { ListTools, readListQuery } from '../chain/list-tools.tsx'
import { useDownloads } from '../downloads/use-downloads.tsx'
import { momentProblem } from '../holdings/as-of.ts'
import { askTransfers } from '../holdings/ask.ts'
import { NothingFound } from '../holdings/list-section.tsx'
import { placeOf, type ShownTransfer, TransfersTable } from '../holdings/transfers-table.tsx'
import { UnconfiguredNote } from '../parts/chain-link.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { NoAddress } from '../parts/no-address.tsx'
import { Paging } from '../parts/paging.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { ProofMap } from '../proof-map/proof-map.tsx'
import { type Coverage, status } from '../state/live.ts'
import { cursorOf } from '../state/page-trail.ts'
import { hrefOf, route } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { type Answered, type AnswerState, useAnswer } from '../state/use-answer.ts'
import { useAskAgain } from '../state/use-ask-again.ts'

type Explained = Schemas['Explanation']
type Transfers = Schemas['NamedTransferCollection'] & { index_complete?: boolean }

export function ContractPage({ chain, address }: { chain: string; address: string }) {
  const asked = readListQuery(route.value.query)
  // A new head asks again for the newest; between two heads nothing can be new, and older pages stand still.
  const head = asked.isNewest ? status.value?.chains[chain]?.head : undefined
  const state = useAnswer(JSON.stringify([asked.values, head]), signal =>
    askTransfers({ address, chain, ...asked.values }, signal),
  )
  const { answered } = state.value
  const isIncomplete = asked.isNewest && answered?.response.headers.get('x-index-complete') === 'false'
  // Not only with a new head: history fills also where the head stands still.
  useAskAgain(isIncomplete && status.value?.chains[chain] !== undefined, state.value)
  const explained = useExplanation(chain, address, answered ?? state.value.problem)
  const fresh = useFresh(answered?.data.result, asked.isNewest)
  // Nothing else on the page could be of an address that is none.
  if (state.value.problem?.parameter === 'address')
    return <NoAddress of="a contract" address={address} problem={state.value.problem} />
  return (
    <>
      <ContractHeading
        {...{ chain, address, explained }}
        row={answered?.data.result[0]}
        here="transfers"
        titled="contract"
      />
      {answered?.data.result.length !== 0 && <UnconfiguredNote chain={chain} />}
      {explained === undefined && state.value.problem === undefined && (
        <Skeleton facts={['Transfers', 'First activity', 'Last activity', 'History', 'Evidence']} />
      )}
      {explained !== undefined && <ContractFacts explained={explained} response={answered?.response} />}
      <TransfersPanel {...{ chain, address, fresh }} state={state.value as AnswerState<Transfers>} asked={asked} />
      {explained !== undefined && (
        <>
          <ContractEvidence explained={explained} />
          {isExplained(explained) && <Explanation explained={explained} />}
        </>
      )}
    </>
  )
}

/** Of a chain that is not indexed here only lists can say something. */
function isExplained({ index, labels, verified_collection, possible_spam }: Explained): boolean {
  const isVerified = verified_collection.because !== 'nobody'
  // The rules judge stored rows, of which there are none.
  const isJudged = !['nobody', 'rules'].includes(possible_spam.because)
  return index.head !== null || labels.length > 0 || isVerified || isJudged
}

/** Asked once transfers came, and again whenever they do: on demand it is their request that has the contract indexed. */
function useExplanation(chain: string, address: string, came: object | undefined): Explained | undefined {
  const last = useRef<{ came: object | undefined; turn: number }>({ came: undefined, turn: 0 }).current
  if (came !== undefined && came !== last.came) {
    last.came = came
    last.turn++
  }
  const told = useAnswer(last.turn === 0 ? undefined : JSON.stringify([chain, address, last.turn]), signal =>
    service.GET('/explain/{chain}/{contract}', { params: { path: { chain, contract: address } }, signal }),
  )
  const { answered } = told.value
  // What a contract says of itself is read soon after its transfers.
  const isUnread = answered?.data.read_at === null && answered.data.index.transfers > 0
  useAskAgain(isUnread && status.value?.chains[chain] !== undefined, told.value)
  return answered?.data
}

type PanelProps = {
  chain: string
  address: string
  fresh: ReadonlySet<string>
  state: AnswerState<Transfers>
  asked: ReturnType<typeof readListQuery>
}

function TransfersPanel({ chain, address, fresh, state: { answered, problem, loading, again }, asked }: PanelProps) {
  const hrefTo = (next: Record<string, string | undefined>) =>
    hrefOf(['contract', chain, address], { ...asked.shown, ...next })
  const list = { path: ['nft', address, 'transfers'], query: { chain }, name: `transfers-${chain}-${address}` }
  const { actions, note } = useDownloads('Transfers', list)
  // Over nothing there is nothing to choose from, unless it is the choice that left nothing.
  const hasTools = !asked.isWhole || (problem === undefined && answered?.data.result.length !== 0)
  return (
    <Panel id="transfers" title="Transfers" actions={hasTools && actions} flush busy={loading}>
      {note}
      {hasTools && <ListTools asked={asked} hrefTo={hrefTo} />}
      {problem !== undefined && (
        <>
          <FailureNote
            problem={momentProblem(problem, asked.until)}
            what="The transfers could not be loaded."
            onRetry={again}
          />
          {problem.parameter !== undefined && (
            <p class="panel-foot">
              <a href={hrefOf(['contract', chain, address])}>Back to the newest</a>
            </p>
          )}
        </>
      )}
      {answered === undefined && problem === undefined && <TransfersTable rows={undefined} chain={chain} />}
      {answered !== undefined && <Rows {...{ chain, address, fresh, answered }} />}
      {answered !== undefined && (asked.cursor !== undefined || answered.data.cursor) && (
        <Paging
          what="transfers"
          page={Number(answered.data.page) + 1}
          here={cursorOf(answered.response)}
          cursor={answered.data.cursor}
          hrefTo={cursor => hrefTo({ cursor })}
          words={
            asked.isOldestFirst
              ? { first: 'Oldest', before: 'Older', after: 'Newer' }
              : { first: 'Newest', before: 'Newer', after: 'Older' }
          }
        />
      )}
    </Panel>
  )
}

type RowsProps = { chain: string; address: string; fresh: ReadonlySet<string>; answered: Answered<Transfers> }

function Rows({ chain, address, fresh, answered: { data } }: RowsProps) {
  if (data.result.length > 0) return <TransfersTable rows={data.result} chain={chain} fresh={fresh} />
  const nothing = data.index_complete ? 'No NFT was ever transferred with this contract' : undefined
  return (
    <NothingFound
      rests={{ on: 'contract', chain }}
      nothing={nothing}
      action={
        <>
          <a class="button" href={hrefOf(['erc20', chain, address])}>
            View as ERC-20 token
          </a>
          <a class="button" href={hrefOf(['wallet', address], { chain })}>
            View as wallet
          </a>
        </>
      }
    />
  )
}

/** The places of rows that the answer before did not have. No more than that is kept, however long the page is open. */
function useFresh(rows: readonly ShownTransfer[] | undefined, isNewest: boolean): ReadonlySet<string> {
  const seen = useRef<Set<string> | undefined>(undefined)
  const fresh = useSignal<ReadonlySet<string>>(new Set())
  useEffect(() => {
    if (rows === undefined || !isNewest) return
    const places = rows.map(placeOf)
    const known = seen.current
    if (known !== undefined) fresh.value = new Set(places.filter(place => !known.has(place)))
    seen.current = new Set(places)
  }, [rows, isNewest, fresh])
  return fresh.value
}

function ContractEvidence({ explained: { index, created_block, contract, chain } }: { explained: Explained }) {
  const covered = index.covered as Coverage['intervals']
  if (index.head === null) return null
  const blocks: Coverage['blocks'] = {}
  for (const { from, to, evidence } of covered) blocks[evidence] = (blocks[evidence] ?? 0) + to - from + 1
  return (
    <Panel id="coverage" title="Coverage">
      <ProofMap
        chain={chain}
        coverage={{ intervals: covered, intervals_total: covered.length, blocks }}
        from={Math.min(created_block ?? 0, covered[0]?.from ?? 0)}
        head={index.head}
        subject={contract}
      />
    </Panel>
  )
}
