// One collection: who holds its tokens now or held them at a moment, and how many of each there are.
import { useRef } from 'preact/hooks'
import { ContractHeading } from '../chain/contract-heading.tsx'
import { type AsOf, type Ends, momentProblem } from '../holdings/as-of.ts'
import { askCollectionStats, askFirstTransfer, askHead, askOwners } from '../holdings/ask.ts'
import { isDrawn, NftViews } from '../holdings/gallery.tsx'
import { HoldersPanel } from '../holdings/holders-panel.tsx'
import { ListSection } from '../holdings/list-section.tsx'
import { MomentSlider } from '../holdings/moment-slider.tsx'
import { OwnersTable } from '../holdings/nft-tables.tsx'
import { useHoldings } from '../holdings/use-holdings.ts'
import { Fact } from '../parts/fact.tsx'
import { countText, parseMoment } from '../quantities.ts'
import { goTo, hrefOf } from '../state/route.ts'
import { type AnswerState, useAnswer } from '../state/use-answer.ts'

type Props = { chain: string; address: string; cursor: string | undefined; asOf: AsOf }

export function HoldersPage({ chain, address, cursor, asOf }: Props) {
  const contract = { chain, contract: address }
  const state = useHoldings({ ...contract, cursor, ...asOf }, askOwners, isDrawn)
  const counted = useHoldings({ ...contract, ...asOf }, askCollectionStats).value
  const stats = counted.answered?.data
  const first = useHoldings(contract, askFirstTransfer).value
  const head = useAnswer(chain, signal => askHead(chain, signal)).value
  // Moments without a holder are of the same collection.
  const named = useRef(state.value.answered?.data.result[0])
  const row = state.value.answered?.data.result[0] ?? named.current
  named.current = row
  const hrefTo = (moment: AsOf, next?: string) =>
    hrefOf(['contract', chain, address, 'holders'], { ...moment, cursor: next })
  const [typed] = Object.values(asOf)
  const { problem } = state.value
  const told = problem === undefined ? state.value : { ...state.value, problem: momentProblem(problem, typed) }
  const isChosen = Object.values(asOf).some(value => value !== undefined)
  // Of a collection that never moved all moments are the same.
  const hasMoments = isChosen || (state.value.problem === undefined && first.answered?.data.result.length !== 0)
  return (
    <>
      <ContractHeading chain={chain} address={address} row={row} here="holders" titled="holders" />
      {hasMoments && (
        <MomentSlider
          chain={chain}
          asOf={asOf}
          ends={endsOf(first.answered?.data.result[0], head.answered?.data)}
          isComing={isComing(first) || isComing(head)}
          state={state.value}
          onChoose={(moment, from) => goTo(hrefTo(moment), { replace: from === 'slider' })}
        />
      )}
      {counted.problem === undefined && (
        <dl class="facts wide">
          <Fact title="Tokens">{stats && countText(Number(stats.total_tokens))}</Fact>
          <Fact title="Holders">{stats && countText(Number(stats.owners.current))}</Fact>
          <Fact title="Transfers">{stats && countText(Number(stats.transfers.total))}</Fact>
        </dl>
      )}
      {state.value.problem === undefined && <HoldersPanel {...contract} asOf={asOf} />}
      <ListSection
        id="tokens"
        title="Holders by token"
        state={told}
        firstPage={1}
        nothing="No NFT of this contract has a holder at this moment"
        rests={{ on: 'contract', chain }}
        whole={{
          path: ['nft', address, 'owners'],
          query: { chain, ...asOf },
          name: ['holders', chain, address, ...Object.values(asOf)].join('-').replaceAll(/[^\w.-]+/g, ''),
        }}
        hrefTo={next => hrefTo(asOf, next)}
        action={
          <a class="button" href={hrefOf(['wallet', address], { chain })}>
            View as wallet
          </a>
        }
      >
        {rows => <NftViews {...{ rows, chain }} withHolders table={<OwnersTable rows={rows} chain={chain} />} />}
      </ListSection>
    </>
  )
}

function isComing({ answered, problem }: AnswerState<unknown>): boolean {
  return answered === undefined && problem === undefined
}

type First = { block_number: string; block_timestamp: string }

function endsOf(first: First | undefined, head: { block: number; block_timestamp: string } | undefined) {
  if (first === undefined || head === undefined) return undefined
  const secondsOf = (moment: string) => parseMoment(moment) / 1_000
  return {
    first: { block: Number(first.block_number), seconds: secondsOf(first.block_timestamp) },
    head: { block: head.block, seconds: secondsOf(head.block_timestamp) },
  } satisfies Ends
}
