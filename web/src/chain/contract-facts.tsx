// The facts of a contract: how much moved and when, how complete that is, and who made it.
import { askFirstTransfer, askLastTransfer } from '../holdings/ask.ts'
import { AddressText } from '../parts/address-text.tsx'
import { Age } from '../parts/age.tsx'
import { isConfigured } from '../parts/chain-link.tsx'
import { Fact } from '../parts/fact.tsx'
import { evidences } from '../proof-map/evidence.ts'
import { countSoFar, countText, parseMoment } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { type AnswerState, useAnswer } from '../state/use-answer.ts'

type Explained = Schemas['Explanation']
type Moved = { result: readonly { block_number: string; block_timestamp: string }[] }

export function ContractFacts({ explained, response }: { explained: Explained; response: Response | undefined }) {
  const { index, created_block: created, deployer, deployer_label: label, chain, contract } = explained
  const complete = response?.headers.get('x-index-complete')
  // Both ends are other ones only where the count is.
  const question = index.transfers === 0 ? undefined : JSON.stringify([chain, contract, index.transfers])
  const first = useAnswer(question, signal => askFirstTransfer({ chain, contract }, signal)).value
  const last = useAnswer(question, signal => askLastTransfer({ chain, contract }, signal)).value
  return (
    <dl class="facts wide">
      <Fact title="Transfers">{countSoFar(index.transfers, complete !== 'false')}</Fact>
      <Activity title="First activity" isAny={index.transfers > 0} state={first} chain={chain} />
      <Activity title="Last activity" isAny={index.transfers > 0} state={last} chain={chain} />
      <HistoryFacts
        {...{ chain, response }}
        isMixed={new Set(index.covered.map(({ evidence }) => evidence)).size > 1}
      />
      {created !== null && (
        <Fact title="Created in block">
          <a href={hrefOf(['block', chain, `${created}`])}>{countText(created)}</a>
        </Fact>
      )}
      {deployer !== null && (
        <Fact title="Created by">
          <AddressText address={deployer} chain={chain} label={label} />
        </Fact>
      )}
    </dl>
  )
}

type ActivityProps = { title: string; isAny: boolean; state: AnswerState<Moved>; chain: string }

function Activity({ title, isAny, state: { answered, problem }, chain }: ActivityProps) {
  if (isAny && answered === undefined && problem === undefined) return <Fact title={title} />
  const moved = answered?.data.result[0]
  return (
    <Fact title={title}>
      {moved === undefined ? (
        '–'
      ) : (
        <a href={hrefOf(['block', chain, moved.block_number])} title={`block ${countText(Number(moved.block_number))}`}>
          <Age moment={parseMoment(moved.block_timestamp)} />
        </a>
      )}
    </Fact>
  )
}

type History = { chain: string; response: Response | undefined; isMixed?: boolean }

/** Whether an answer is complete, and by what. */
export function HistoryFacts({ chain, response, isMixed = false }: History) {
  const complete = response?.headers.get('x-index-complete')
  const evidence = evidences.find(({ name }) => name === response?.headers.get('x-index-evidence'))
  return (
    <>
      <Fact title="History">
        {complete == null ? (
          '–'
        ) : complete === 'true' ? (
          <span class="good">complete</span>
        ) : (
          <span class="warn">{isConfigured(chain) === false ? 'not indexed here' : 'not complete yet'}</span>
        )}
      </Fact>
      {evidence !== undefined && (
        <Fact title="Evidence">
          <span title={evidence.meaning}>
            {evidence.title}
            {isMixed && <small class="soft"> weakest</small>}
          </span>
        </Fact>
      )}
    </>
  )
}
