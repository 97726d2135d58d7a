// Every chain and network as one row: its state, coverage, head, lag, and whether its endpoints answer.

import { State } from '../chain/history-control.tsx'
import { Badge, ChainBadge } from '../parts/badge.tsx'
import { Panel } from '../parts/panel.tsx'
import { ReasonText } from '../parts/reason-text.tsx'
import { Table } from '../parts/table.tsx'
import { CoverageBar, coveredBlocks, EvidenceLegend } from '../proof-map/coverage-bar.tsx'
import { countText, percentText, pluralText, rateText, spanText } from '../quantities.ts'
import { type Endpoint, type LiveChain, type LiveNetwork, type LiveStatus, lagOf } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'

const columns = [
  'Chain',
  'State',
  'Coverage',
  { figures: 'Head' },
  { figures: 'Lag' },
  { figures: 'ETA' },
  { figures: 'Rows/s' },
  { figures: 'Endpoints' },
]

/** Undefined while it is not known. */
export function ChainsPanel({ told }: { told: LiveStatus | undefined }) {
  const rows = told && [
    ...Object.entries(told.chains).map(([name, chain]) => <ChainRow key={name} name={name} chain={chain} />),
    ...Object.entries(told.solana).map(([name, network]) => <NetworkRow key={name} name={name} network={network} />),
  ]
  return (
    <Panel id="chains" title="Chains" count={rows?.length} actions={<EvidenceLegend />} flush>
      <Table name="chains" columns={columns} coming={4}>
        {rows}
      </Table>
    </Panel>
  )
}

function ChainRow({ name, chain }: { name: string; chain: LiveChain }) {
  const { head, rates, eta_seconds, rpc, index } = chain
  return (
    <tr class="chain-row">
      <th scope="row">
        <a href={hrefOf(['chain', name])}>{name}</a>
      </th>
      <td class="state-cell">
        <ChainBadge of={chain} />
        <Trouble chain={chain} />
      </td>
      <td class="coverage-cell">
        {index === 'on-demand' ? <OnDemand chain={chain} /> : <Whole name={name} chain={chain} />}
      </td>
      <td class="number head aside">{head < 0 ? '–' : countText(head)}</td>
      <Lag of={chain} />
      <Cell title="ETA">{eta_seconds === null || eta_seconds <= 0 ? undefined : spanText(eta_seconds)}</Cell>
      <Cell title="rows/s">{rateText(rates?.rows_per_second ?? 0)}</Cell>
      <Endpoints rpc={rpc} />
    </tr>
  )
}

function Whole({ name, chain: { coverage, from = 0, head, transfers_blocks } }: { name: string; chain: LiveChain }) {
  const total = head - from + 1
  return (
    <div class="coverage-line">
      <CoverageBar coverage={coverage} from={from} head={head} subject={name} />
      <b class={total > 0 ? undefined : 'unknown'}>{total > 0 ? percentText(coveredBlocks(coverage), total) : '–'}</b>
      {transfers_blocks !== undefined && <small class="soft">transfers {percentText(transfers_blocks, total)}</small>}
    </div>
  )
}

/** Blocks that nothing asked for are not missing, so no share of the chain is shown. */
function OnDemand({ chain: { contracts, queue } }: { chain: LiveChain }) {
  const waiting = (queue?.running ?? 0) + (queue?.waiting ?? 0)
  return (
    <span class="soft">
      on demand: {pluralText(contracts.total, 'contract')}
      {waiting > 0 && `, ${waiting} being indexed`}
    </span>
  )
}

function Trouble({ chain: { reason, head_old, head_age_seconds, state, backfill } }: { chain: LiveChain }) {
  if (reason !== undefined) return <Reason text={reason} />
  if (head_old === true && head_age_seconds != null)
    return <small class="reason">The newest block is {spanText(head_age_seconds)} old.</small>
  if (state === 'backfilling' && backfill !== undefined && backfill.state !== 'open')
    return (
      <small class="soft reason">
        History: <State backfill={backfill} />
      </small>
    )
  return null
}

function Reason({ text }: { text: string }) {
  return (
    <div class="reason">
      <ReasonText text={text} />
    </div>
  )
}

function NetworkRow({ name, network }: { name: string; network: LiveNetwork }) {
  const { state, reason, slot, rpc } = network
  return (
    <tr class="chain-row">
      <th scope="row">
        <a href={hrefOf(['chain', `solana ${name}`])}>solana {name}</a>
      </th>
      <td class="state-cell">
        <Badge word={state} />
        {reason !== undefined && <Reason text={reason} />}
      </td>
      <td class="coverage-cell soft">read when requested</td>
      <td class="number head aside" title="Slot">
        {slot === 0 ? '–' : countText(slot)}
      </td>
      <Lag of={network} />
      <Cell title="ETA" />
      <Cell title="rows/s" />
      <Endpoints rpc={rpc} />
    </tr>
  )
}

function Lag({ of }: { of: LiveChain | LiveNetwork }) {
  const seconds = lagOf(of)
  return <Cell title="lag">{seconds === undefined ? undefined : spanText(seconds)}</Cell>
}

function Cell({ title, children }: { title: string; children?: string | undefined }) {
  return (
    <td class={children === undefined ? 'number second unknown' : 'number second'} data-name={title}>
      {children ?? '–'}
    </td>
  )
}

function Endpoints({ rpc }: { rpc: readonly Endpoint[] }) {
  const healthy = rpc.filter(each => each.healthy).length
  const tone = healthy === rpc.length ? '' : healthy === 0 ? ' bad' : ' warn'
  return <td class={`number second${tone}`}>{rpc.length === 0 ? 'none' : `${healthy} of ${rpc.length} healthy`}</td>
}
