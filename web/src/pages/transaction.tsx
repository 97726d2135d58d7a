// One transaction as a node has it, with the NFTs that it moved.
import { NativeAmount } from '../chain/native-amount.tsx'
import { CollectionLink } from '../holdings/nft-links.tsx'
import { TransfersTable } from '../holdings/transfers-table.tsx'
import { AddressText } from '../parts/address-text.tsx'
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
import { countOf, countText, exactText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'

type Transaction = Schemas['Transaction']

export function TransactionPage({ chain, hash }: { chain: string; hash: string }) {
  const state = useAnswer(JSON.stringify([chain, hash]), signal =>
    service.GET('/chains/{chain}/transactions/{hash}', { params: { path: { chain, hash } }, signal }),
  )
  const { answered, problem, again } = state.value
  const found = answered?.data
  return (
    <>
      <div class="heading">
        <h1>Transaction</h1>
        {found !== undefined && (
          <>
            <Badge word={found.succeeded ? 'succeeded' : 'reverted'} tone={found.succeeded ? 'good' : 'bad'} />
            <Badge word={found.final ? 'final' : 'not final'} tone={found.final ? 'good' : 'warn'} />
          </>
        )}
      </div>
      <p class="subject">
        <ChainLink name={chain} />
        <WholeText text={hash} what="hash" />
      </p>
      {problem?.status === 404 ? (
        <section class="panel" aria-label="What is known">
          <EmptyState
            title="This transaction is in no block"
            action={
              <>
                <button type="button" onClick={again}>
                  Try again
                </button>
                <a class="button" href={hrefOf(['search'], { q: hash })}>
                  Look on other chains
                </a>
              </>
            }
          >
            No node of {chain} has it. It may still wait to be included, or belong to another chain.
          </EmptyState>
        </section>
      ) : (
        problem !== undefined && (
          <Panel id="transaction" title="Transaction">
            <FailureNote problem={problem} what="The transaction could not be looked up." onRetry={again} />
          </Panel>
        )
      )}
      {found === undefined && problem === undefined && (
        <>
          <Skeleton
            facts={['Block', 'Time', 'From', 'To', 'Value', 'Fee', 'Method', 'Evidence of the block', 'Logs']}
          />
          <Panel id="transfers" title="NFT transfers" flush>
            <TransfersTable rows={undefined} chain={chain} withCollections without="transaction" coming={2} />
          </Panel>
        </>
      )}
      {found !== undefined && (
        <>
          <TransactionFacts of={found} />
          <Transfers of={found} />
        </>
      )}
    </>
  )
}

function TransactionFacts({ of }: { of: Transaction }) {
  const { chain, block, block_timestamp: time, evidence, created_contract: created, ...rest } = of
  return (
    <dl class="facts wide">
      <Fact title="Block">
        <a href={hrefOf(['block', chain, `${block}`])}>{countText(block)}</a>{' '}
        <small class="soft under">position {countText(rest.transaction_index)}</small>
      </Fact>
      <Fact title="Time">
        {time === null ? '–' : <Age moment={Date.parse(time)} />}{' '}
        {time !== null && <small class="soft under">{exactText(Date.parse(time))}</small>}
      </Fact>
      <Fact title="From">
        {rest.from_address === null ? (
          '–'
        ) : (
          <AddressText address={rest.from_address} chain={chain} label={rest.from_address_label} />
        )}
      </Fact>
      <Fact title={created === null ? 'To' : 'Creates'}>
        {created !== null ? (
          <ReferenceText text={created} what="address" href={hrefOf(['contract', chain, created])} />
        ) : rest.to_address === null ? (
          '–'
        ) : (
          <Receiver of={of} address={rest.to_address} />
        )}
      </Fact>
      <Fact title="Value">{rest.value === '0' ? '0' : <NativeAmount wei={rest.value} chain={chain} />}</Fact>
      <Fact title="Fee">
        {rest.fee === null ? '–' : <NativeAmount wei={rest.fee} chain={chain} />}{' '}
        {rest.gas_used !== null && <small class="soft under">{countText(rest.gas_used)} gas</small>}
      </Fact>
      <Fact title="Method">
        {rest.method === null ? '–' : <code>{rest.method}</code>}{' '}
        {rest.nonce !== null && <small class="soft under">nonce {countText(rest.nonce)}</small>}
      </Fact>
      <Fact title="Evidence of the block">
        {evidences.find(({ name }) => name === evidence)?.title ?? <span class="warn">not indexed as a whole</span>}
      </Fact>
      <Fact title="Logs">
        {countText(rest.logs)} <small class="soft under">by {rest.endpoint}</small>
      </Fact>
    </dl>
  )
}

/** A contract whose NFTs it moved is known by its name, as in the list of them. */
function Receiver({
  of: { chain, transfers, to_address_label: label },
  address,
}: {
  of: Transaction
  address: string
}) {
  const moved = transfers.find(({ token_address, token_name }) => token_address === address && token_name !== null)
  if (moved === undefined) return <AddressText address={address} chain={chain} label={label} />
  return <CollectionLink chain={chain} address={address} name={label ?? moved.token_name} />
}

function Transfers({ of: { transfers, chain, logs, succeeded, more_transfers } }: { of: Transaction }) {
  return (
    <Panel id="transfers" title="NFT transfers" count={transfers.length} flush>
      {transfers.length > 0 ? (
        <TransfersTable rows={transfers} chain={chain} withCollections without="transaction" />
      ) : (
        <EmptyState title="No NFT transfer is stored of this transaction">
          {!succeeded
            ? 'It was reverted, so it moved nothing.'
            : logs === 0
              ? 'It logged nothing.'
              : `It made ${countOf(logs, 'log')}. Those of NFTs show once their contract is indexed.`}
        </EmptyState>
      )}
      {more_transfers && <p class="panel-foot">Only the first {countText(transfers.length)} are shown.</p>}
    </Panel>
  )
}
