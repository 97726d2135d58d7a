// The contracts of a chain: the busiest or the latest first, or those that a name or an address names. Order, search and
// page stand in the address.
import { FlagMarks, nameText } from '../holdings/nft-links.tsx'
import { Age } from '../parts/age.tsx'
import { Choices } from '../parts/choices.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Paging } from '../parts/paging.tsx'
import { Panel } from '../parts/panel.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { Table } from '../parts/table.tsx'
import { CoverageBar, coveredBlocks } from '../proof-map/coverage-bar.tsx'
import { countSoFar, countText, percentText, shortText } from '../quantities.ts'
import type { LiveChain } from '../state/live.ts'
import { cursorOf } from '../state/page-trail.ts'
import { hrefOf, route } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import { useAskAgain } from '../state/use-ask-again.ts'
import { followedCoverage } from './followed.ts'
import { ListSearch } from './list-search.tsx'
import { SuggestedContracts } from './suggested-contracts.tsx'
import './list-tools.css'

type Listed = Schemas['ContractList']['contracts'][number]

const orders = { transfers: 'Most transfers', activity: 'Latest activity', address: 'Address' } as const
type Order = keyof typeof orders

export function ContractsPanel({ name, chain }: { name: string; chain: LiveChain }) {
  const { query } = route.value
  const search = query.get('search') ?? ''
  const order = (Object.keys(orders) as Order[]).find(each => each === query.get('order')) ?? 'transfers'
  const after = query.get('after') ?? undefined
  const hrefTo = (next: Record<string, string | undefined>) =>
    hrefOf(['chain', name], { ...(search && { search }), ...(order !== 'transfers' && { order }), ...next })
  // What is first may change with each block; a page that was gone to stands still.
  const isLive = after === undefined && search === '' && order === 'activity'
  // While few are known, each block may bring the first ones.
  const isYoung = !chain.complete || chain.head < 1_000
  const head = isLive || (isYoung && after === undefined && search === '') ? chain.head : undefined
  const state = useAnswer(JSON.stringify([name, search, order, after, head, chain.complete]), signal =>
    service.GET('/chains/{chain}/contracts', {
      params: {
        path: { chain: name },
        query: { order, limit: 25, ...(search && { search }), ...(after !== undefined && { after }) },
      },
      signal,
    }),
  )
  const { answered, problem, again, loading } = state.value
  const list = answered?.data
  // Names are read soon after the transfers. Some contracts have none.
  useAskAgain(list?.contracts.some(({ name }) => name === null) ?? false, state.value, 8)
  const isFirst = search === '' && after === undefined
  // Contracts that are followed and never moved an NFT are known to the status alone.
  const rows = [
    ...inOrder(list?.contracts ?? [], order),
    ...(isFirst && list?.after === null ? silentOnes(chain, list.contracts) : []),
  ]
  const isUnasked = isFirst && list !== undefined && rows.length === 0 && list.after === null
  return (
    <Panel id="contracts" title="Contracts" note={countNote(chain)} flush busy={loading}>
      {!isUnasked && (problem === undefined || !isFirst) && <Tools {...{ name, search, order, hrefTo }} />}
      {problem !== undefined && (
        <>
          <FailureNote problem={problem} what="The contracts could not be listed." onRetry={again} />
          {(order !== 'transfers' || after !== undefined) && (
            <p class="panel-foot">
              <a href={hrefOf(['chain', name])}>By transfers, from the first page</a>
            </p>
          )}
        </>
      )}
      {list === undefined && problem === undefined && <Table columns={contractColumns}>{undefined}</Table>}
      {list !== undefined && isUnasked && <SuggestedContracts name={name} chain={chain} suggested={list.suggested} />}
      {list !== undefined && !isUnasked && rows.length === 0 && (
        <EmptyState title={list.after === null ? `No contract matches “${search}”` : 'Nothing on this page'}>
          Names, symbols and the beginning of an address are searched, among contracts with stored transfers.
        </EmptyState>
      )}
      {rows.length > 0 && <ContractsTable name={name} chain={chain} rows={rows} />}
      {list !== undefined && (list.after !== null || after !== undefined) && (
        <Paging
          what="contracts"
          here={answered && cursorOf(answered.response, 'after')}
          cursor={list.after}
          hrefTo={next => hrefTo({ after: next })}
        />
      )}
    </Panel>
  )
}

/** While the counts of a young store are not ranked yet, they come by address. */
function inOrder(listed: readonly Listed[], order: Order): readonly Listed[] {
  return order === 'transfers' ? listed.toSorted((a, b) => b.transfers - a.transfers) : listed
}

function countNote({ index, contracts: { total } }: LiveChain): string | undefined {
  return index === 'on-demand' && total > 0 ? `${countText(total)} followed on demand` : undefined
}

type HrefTo = (next: Record<string, string | undefined>) => string
type ToolsProps = { name: string; search: string; order: Order; hrefTo: HrefTo }

function Tools({ name, search, order, hrefTo }: ToolsProps) {
  return (
    <div class="list-tools">
      <ListSearch
        label={`Contracts of ${name}`}
        text={search}
        hrefTo={text => hrefTo({ search: text, after: undefined })}
      />
      <Choices
        label="Order of contracts"
        choices={Object.entries(orders).map(([value, title]) => ({
          title,
          href: hrefTo({ order: value === 'transfers' ? undefined : value, after: undefined }),
          isHere: value === order,
        }))}
      />
    </div>
  )
}

function silentOnes({ index, contracts: { shown } }: LiveChain, listed: readonly Listed[]): Listed[] {
  if (index !== 'on-demand') return []
  const known = new Set(listed.map(({ address }) => address))
  return shown
    .filter(({ contract }) => !known.has(contract))
    .map(({ contract }) => ({
      ...{ address: contract, transfers: 0, name: null, symbol: null, contract_type: null },
      ...{ verified_collection: false, possible_spam: false, last_block: null, last_block_timestamp: null },
      blocks_left: null,
    }))
}

/** Those that every list of contracts has. */
export const contractColumns = ['Contract', 'Address', 'Type', { figures: 'Transfers' }, { figures: 'Last activity' }]

type TableProps = { name: string; chain: LiveChain; rows: readonly Listed[] }

function ContractsTable({ name, chain, rows }: TableProps) {
  const isOnDemand = chain.index === 'on-demand'
  const hasMarks = rows.some(row => row.verified_collection || row.possible_spam)
  return (
    <Table
      columns={[
        ...['Contract', 'Address', 'Type', ...(hasMarks ? ['Marks'] : [])],
        ...[{ figures: 'Transfers' }, { figures: 'Last activity' }],
        ...(isOnDemand ? ['Coverage'] : []),
      ]}
    >
      {rows.map(row => (
        <tr key={row.address}>
          <th scope="row" data-title="Contract">
            <a href={hrefOf(['contract', name, row.address])}>
              {nameText(row.name, row.symbol) ?? <span class="mono">{shortText(row.address)}</span>}
            </a>
          </th>
          <td data-title="Address" class={row.name ? 'second' : 'not-narrow'}>
            <ReferenceText text={row.address} what="address" href={hrefOf(['contract', name, row.address])} />
          </td>
          <td data-title="Type" class={row.contract_type === null ? 'not-narrow' : 'second'}>
            {row.contract_type ?? <span class="soft">–</span>}
          </td>
          {hasMarks && (
            <td data-title="Marks" class={row.verified_collection || row.possible_spam ? 'marks' : 'marks not-narrow'}>
              <FlagMarks of={row} />
            </td>
          )}
          <td data-title="Transfers" class="number aside">
            {/* The list has those with rows, and beside them those on demand of which nothing is there. */}
            {countSoFar(row.transfers, false)}
          </td>
          <td data-title="Last activity" class={row.last_block === null ? 'number not-narrow' : 'number second'}>
            <LastActivity chain={name} row={row} />
          </td>
          {isOnDemand && (
            <td data-title="Coverage" class="second own-line">
              <Followed address={row.address} chain={chain} />
            </td>
          )}
        </tr>
      ))}
    </Table>
  )
}

function LastActivity({ chain, row: { last_block, last_block_timestamp } }: { chain: string; row: Listed }) {
  if (last_block === null || last_block_timestamp === null) return <span class="soft">–</span>
  return (
    <a href={hrefOf(['block', chain, `${last_block}`])} title={`block ${countText(last_block)}`}>
      <Age moment={Date.parse(last_block_timestamp)} />
    </a>
  )
}

/** Of the contracts that the status tells of: the others were not asked for of late. */
function Followed({ address, chain }: { address: string; chain: LiveChain }) {
  const own = chain.contracts.shown.find(({ contract }) => contract === address)
  if (own === undefined) return <span class="soft">–</span>
  const coverage = followedCoverage(own, chain.coverage)
  const from = coverage.intervals[0]?.from ?? 0
  const total = chain.head - from + 1
  const covered = coveredBlocks(coverage)
  return (
    <span class="covered-share">
      <CoverageBar coverage={coverage} from={from} head={chain.head} subject={address} />
      {covered >= total ? <span class="good">complete</span> : <span>{percentText(covered, total)}</span>}
    </span>
  )
}
