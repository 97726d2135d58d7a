// The ERC-20 tokens of a chain: those that were asked for, with what of each is indexed, or all where the chain keeps them. Search
// and page stand in the address.
import { FlagMarks, nameText } from '../holdings/nft-links.tsx'
import { Age } from '../parts/age.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Paging } from '../parts/paging.tsx'
import { Panel } from '../parts/panel.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { Table } from '../parts/table.tsx'
import { countSoFar, countText, percentText, shortText } from '../quantities.ts'
import type { LiveChain } from '../state/live.ts'
import { cursorOf } from '../state/page-trail.ts'
import { hrefOf, route } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import { useAskAgain } from '../state/use-ask-again.ts'
import { ListSearch } from './list-search.tsx'
import { AskForm } from './suggested-contracts.tsx'
import './list-tools.css'

type Listed = Schemas['ContractList']['contracts'][number]
type Ledger = NonNullable<LiveChain['erc20']>

/** Names of what stands in the address: the contracts above have theirs. */
const [searchName, afterName] = ['token', 'tokens-after']
const pageSize = 10

export function TokensPanel({ name, chain }: { name: string; chain: LiveChain }) {
  const { query } = route.value
  const search = query.get(searchName) ?? ''
  const after = query.get(afterName) ?? undefined
  const ledger = chain.erc20
  const hrefTo = (next: Record<string, string | undefined>) =>
    hrefOf(['chain', name], { ...(search && { [searchName]: search }), ...next })
  // The first ones may come with each block, and a page that was gone to stands still.
  const turn = after === undefined && search === '' && ledger?.complete !== true ? ledger?.head : undefined
  const asked = ledger === undefined ? undefined : JSON.stringify([name, search, after, turn, ledger.contracts])
  const state = useAnswer(asked, signal =>
    service.GET('/chains/{chain}/contracts', {
      params: {
        path: { chain: name },
        query: { ledger: 'erc20', limit: pageSize, ...(search && { search }), ...(after !== undefined && { after }) },
      },
      signal,
    }),
  )
  const { answered, problem, again, loading } = state.value
  const list = answered?.data
  const isFirst = search === '' && after === undefined
  const isComing = list?.contracts.some(({ name, blocks_left }) => name === null || (blocks_left ?? 0) > 0) ?? false
  useAskAgain(isComing, state.value, 8)
  const rows = isFirst ? list?.contracts.toSorted((a, b) => b.transfers - a.transfers) : list?.contracts
  const isNone = ledger === undefined || (isFirst && rows?.length === 0 && list?.after === null)
  return (
    <Panel id="tokens" title="ERC-20 tokens" note={ledger && ledgerNote(ledger)} flush busy={loading}>
      {ledger !== undefined && !isNone && (
        <div class="list-tools">
          <ListSearch
            label={`ERC-20 tokens of ${name}`}
            text={search}
            hrefTo={text => hrefTo({ [searchName]: text, [afterName]: undefined })}
          />
        </div>
      )}
      {problem !== undefined && (
        <FailureNote problem={problem} what="The tokens could not be listed." onRetry={again} />
      )}
      {isNone && <NoTokens name={name} ledger={ledger} />}
      {ledger !== undefined && !isNone && problem === undefined && rows?.length !== 0 && (
        <TokensTable name={name} ledger={ledger} rows={rows} />
      )}
      {!isFirst && rows?.length === 0 && (
        <EmptyState title={list?.after === null ? `No token matches “${search}”` : 'Nothing on this page'}>
          Names, symbols and the beginning of an address are searched, among tokens with stored transfers.
        </EmptyState>
      )}
      {list !== undefined && (list.after !== null || after !== undefined) && (
        <Paging
          what="tokens"
          here={answered && cursorOf(answered.response, 'after')}
          cursor={list.after}
          hrefTo={next => hrefTo({ [afterName]: next })}
        />
      )}
    </Panel>
  )
}

function ledgerNote({ index, contracts, queue, blocks_left }: Ledger): string {
  if (index === 'full') return blocks_left ? `every token; ${countText(blocks_left)} blocks left` : 'every token'
  const { running = 0, waiting = 0 } = queue ?? {}
  const busy = [running > 0 && `${countText(running)} being indexed`, waiting > 0 && `${countText(waiting)} waiting`]
  const known = contracts === undefined ? 'on demand' : `${countText(contracts)} followed on demand`
  return [known, ...busy].filter(Boolean).join(', ')
}

function NoTokens({ name, ledger }: { name: string; ledger: Ledger | undefined }) {
  if (ledger?.index === 'full')
    return (
      <EmptyState title="No ERC-20 transfer was found yet">
        {ledger.complete
          ? `Every block of ${name} is indexed.`
          : `The history of ${name} is being indexed, newest first.`}
      </EmptyState>
    )
  return (
    <EmptyState
      title={ledger?.queue?.running ? 'Nothing is indexed yet' : 'No token was asked for yet'}
      action={<AskForm what="token" hrefTo={address => hrefOf(['erc20', name, address])} />}
    >
      The first question about a token has its whole history indexed, newest first, and it is followed from then on.
    </EmptyState>
  )
}

type TableProps = { name: string; ledger: Ledger; rows: readonly Listed[] | undefined }

function TokensTable({ name, ledger: { index, head }, rows }: TableProps) {
  const isOnDemand = index !== 'full'
  const isMarked = ({ verified_collection, possible_spam }: Listed) => verified_collection || possible_spam
  const hasMarks = rows?.some(isMarked) === true
  return (
    <Table
      columns={[
        ...['Token', 'Address', ...(hasMarks ? ['Marks'] : []), { figures: 'Transfers' }, { figures: 'Last activity' }],
        ...(isOnDemand ? [{ figures: 'Indexed' }] : []),
      ]}
      coming={3}
    >
      {rows?.map(row => (
        <tr key={row.address}>
          <th scope="row" data-title="Token">
            <a href={hrefOf(['erc20', name, row.address])}>
              {nameText(row.name, row.symbol) ?? row.symbol ?? <span class="mono">{shortText(row.address)}</span>}
            </a>
          </th>
          <td data-title="Address" class={row.name ? 'second' : 'not-narrow'}>
            <ReferenceText text={row.address} what="address" href={hrefOf(['erc20', name, row.address])} />
          </td>
          {hasMarks && (
            <td data-title="Marks" class={isMarked(row) ? 'marks' : 'marks not-narrow'}>
              <FlagMarks of={row} />
            </td>
          )}
          <td data-title="Transfers" class="number aside">
            {countSoFar(row.transfers, row.blocks_left === 0 || !isOnDemand)}
          </td>
          <td data-title="Last activity" class={row.last_block === null ? 'number not-narrow' : 'number second'}>
            {row.last_block_timestamp === null ? (
              <span class="soft">–</span>
            ) : (
              <a href={hrefOf(['block', name, `${row.last_block}`])} title={`block ${countText(row.last_block ?? 0)}`}>
                <Age moment={Date.parse(row.last_block_timestamp)} />
              </a>
            )}
          </td>
          {isOnDemand && (
            <td data-title="Indexed" class="number second">
              <Indexed left={row.blocks_left} head={head} />
            </td>
          )}
        </tr>
      ))}
    </Table>
  )
}

function Indexed({ left, head }: { left: number | null; head: number }) {
  if (left === null) return <span class="soft">–</span>
  if (left === 0) return <span class="good">complete</span>
  const all = head + 1
  return <span title={`${countText(left)} blocks left`}>{percentText(Math.max(0, all - left), all)}</span>
}
