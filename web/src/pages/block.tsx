// One block of a chain: what it is, what its rows rest on, its transfers, and the ways to its neighbours.

import { askBlockTransfers } from '../holdings/ask.ts'
import { ListSection } from '../holdings/list-section.tsx'
import { TransfersTable } from '../holdings/transfers-table.tsx'
import { useHoldings } from '../holdings/use-holdings.ts'
import { Age } from '../parts/age.tsx'
import { Badge } from '../parts/badge.tsx'
import { ChainLink } from '../parts/chain-link.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Fact } from '../parts/fact.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { WholeText } from '../parts/whole-text.tsx'
import { evidences } from '../proof-map/evidence.ts'
import { countText, exactText } from '../quantities.ts'
import { status } from '../state/live.ts'
import { hrefOf, route } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'

type Facts = Schemas['BlockFacts']
type Props = { chain: string; number: string }

export function BlockPage({ chain, number }: Props) {
  const cursor = route.value.query.get('cursor') ?? undefined
  const { finalized = -1, head } = status.value?.chains[chain] ?? {}
  const isFinal = Number(number) <= finalized
  const isThere = head !== undefined && Number(number) <= head
  // A block that is not final may be replaced, and one that is not there yet may come.
  const state = useAnswer(JSON.stringify([chain, number, isFinal, isThere, isFinal || !isThere ? 0 : head]), signal =>
    service.GET('/chains/{chain}/blocks/{number}', {
      params: { path: { chain, number: number as unknown as number } },
      signal,
    }),
  )
  const { answered, problem, again } = state.value
  const facts = answered?.data
  return (
    <>
      <header class="about">
        <div class="heading">
          <h1>Block {/^\d+$/.test(number) ? countText(Number(number)) : number}</h1>
          {facts !== undefined && (
            <Badge word={facts.final ? 'final' : 'not final'} tone={facts.final ? 'good' : 'warn'} />
          )}
        </div>
        <p class="subject">
          <ChainLink name={chain} />
          {facts?.hash != null && <WholeText text={facts.hash} what="hash" />}
        </p>
        <Neighbours chain={chain} number={Number(number)} head={facts?.head ?? head} />
      </header>
      {problem?.status === 404 ? (
        <section class="panel" aria-label="What is known">
          <EmptyState
            title={problem.message.replace(number, countText(Number(number)))}
            action={
              <>
                {head !== undefined && head >= 0 && (
                  <a class="button" href={hrefOf(['block', chain, `${head}`])}>
                    Newest block
                  </a>
                )}
                <a class="button" href={hrefOf(['chain', chain])}>
                  Go to {chain}
                </a>
              </>
            }
          />
        </section>
      ) : (
        problem !== undefined && (
          <Panel id="block" title="Block">
            <FailureNote problem={problem} what="The block could not be loaded." onRetry={again} />
          </Panel>
        )
      )}
      {problem === undefined && (
        <>
          {facts === undefined ? (
            <Skeleton facts={['Time', 'Evidence', 'Transactions', 'Below the head', 'Parent']} />
          ) : (
            <BlockFacts facts={facts} chain={chain} />
          )}
          <BlockTransfers chain={chain} number={number} cursor={cursor} />
        </>
      )}
    </>
  )
}

function Neighbours({ chain, number, head }: { chain: string; number: number; head: number | undefined }) {
  if (Number.isNaN(number)) return null
  return (
    <nav class="actions" aria-label="Neighbouring blocks">
      <Neighbour chain={chain} number={number - 1} isThere={number > 0} text="← Previous" />
      <Neighbour chain={chain} number={number + 1} isThere={head !== undefined && number < head} text="Next →" />
    </nav>
  )
}

type NeighbourProps = { chain: string; number: number; isThere: boolean; text: string }

/** Has its place also where there is none, so that the other one stays in its own. */
function Neighbour({ chain, number, isThere, text }: NeighbourProps) {
  if (!isThere)
    return (
      <button type="button" disabled>
        {text}
      </button>
    )
  return (
    <a class="button" href={hrefOf(['block', chain, `${number}`])}>
      {text}
    </a>
  )
}

function BlockFacts({ facts, chain }: { facts: Facts; chain: string }) {
  const { timestamp, evidence, parent_hash, transactions, number, head } = facts
  const meant = evidences.find(({ name }) => name === evidence)
  return (
    <dl class="facts wide">
      <Fact title="Time">
        {timestamp === null ? (
          <span class="soft">unknown</span>
        ) : (
          <>
            <Age moment={Date.parse(timestamp)} /> <small class="soft under">{exactText(Date.parse(timestamp))}</small>
          </>
        )}
      </Fact>
      <Fact title="Evidence">
        {meant === undefined ? (
          <span class="warn">not indexed as a whole</span>
        ) : (
          <span title={meant.meaning}>
            <i class={`swatch evidence-${meant.name}`} /> {meant.title}
          </span>
        )}
      </Fact>
      {transactions !== null && <Fact title="Transactions">{countText(transactions)}</Fact>}
      <Fact title="Below the head">{countText(head - number)}</Fact>
      {parent_hash !== null && (
        <Fact title="Parent">
          <ReferenceText text={parent_hash} what="parent hash" href={hrefOf(['block', chain, `${number - 1}`])} />
        </Fact>
      )}
    </dl>
  )
}

function BlockTransfers({ chain, number, cursor }: Props & { cursor: string | undefined }) {
  const state = useHoldings({ chain, block: number, cursor }, askBlockTransfers)
  return (
    <ListSection
      id="transfers"
      title="NFT transfers"
      state={state.value}
      firstPage={0}
      nothing="No NFT moved in this block"
      rests={{ on: 'chain', chain }}
      whole={{ path: ['block', number, 'nft', 'transfers'], query: { chain }, name: `transfers-${chain}-${number}` }}
      hrefTo={next => hrefOf(['block', chain, number], { cursor: next })}
    >
      {rows => <TransfersTable rows={rows} chain={chain} withCollections without="block" />}
    </ListSection>
  )
}
