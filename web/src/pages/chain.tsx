// One chain or Solana network in full: its evidence, its endpoints over time, the contracts that it holds.

import { Badge } from '../parts/badge.tsx'
import { CoverageBar, coveredBlocks, EvidenceLegend } from '../parts/coverage-bar.tsx'
import { evidences } from '../parts/evidence.ts'
import { Fact } from '../parts/fact.tsx'
import { HealthStrip } from '../parts/health-strip.tsx'
import { HistoryControl } from '../parts/history-control.tsx'
import { KnownContracts } from '../parts/known-contracts.tsx'
import { linesOf } from '../parts/past-lines.ts'
import { Plot } from '../parts/plot.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { SourcesSection } from '../parts/sources-section.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { countText, percentText, rateText, spanText } from '../quantities.ts'
import { type Endpoint, type LiveChain, type LiveNetwork, past, status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'

export function ChainPage({ name }: { name: string }) {
  const told = status.value
  if (told === undefined) return <p class="soft waiting">Waiting for the first news …</p>
  const chain = told.chains[name]
  const network = name.startsWith('solana ') ? told.solana[name.slice('solana '.length)] : undefined
  if (chain !== undefined) return <EvmChain name={name} chain={chain} />
  if (network !== undefined) return <SolanaNetwork name={name} network={network} />
  return (
    <>
      <h1>{name}</h1>
      <p class="note">This process does not index {name}.</p>
    </>
  )
}

function EvmChain({ name, chain }: { name: string; chain: LiveChain }) {
  const { state, reason, head, finalized, lag_seconds, rates, eta_seconds, index = 'full', from = 0 } = chain
  const { head_age_seconds, head_old, views } = chain
  const known = (number: number) => (number < 0 ? '–' : countText(number))
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        <Badge word={state} />
        <span class="soft">{index === 'full' ? `indexed in full${viewsText(views)}` : 'indexed on demand'}</span>
      </div>
      {reason !== undefined && (
        <p class="note note-bad" role="alert">
          {reason}
        </p>
      )}
      {head_old === true && head_age_seconds != null && (
        <p class="note note-bad" role="alert">
          The newest block is {spanText(head_age_seconds)} old: the node may have stopped importing blocks.
        </p>
      )}
      <dl class="facts wide">
        <Fact title="Head">{known(head)}</Fact>
        <Fact title="Head age">{head_age_seconds == null ? '–' : spanText(head_age_seconds)}</Fact>
        <Fact title="Final">{known(finalized)}</Fact>
        <Fact title="Behind">{spanText(lag_seconds)}</Fact>
        <Fact title="Blocks/s">{rateText(rates?.blocks_per_second ?? 0)}</Fact>
        <Fact title="Rows/s">{rateText(rates?.rows_per_second ?? 0)}</Fact>
        <Fact title="Left">{eta_seconds === null ? '–' : spanText(eta_seconds)}</Fact>
      </dl>
      <HistoryControl name={name} chain={chain} />
      {index === 'full' && <CoverageSection name={name} chain={chain} from={from} />}
      {chain.contracts.total > 0 && <ContractsSection name={name} chain={chain} from={from} />}
      {index === 'full' && <KnownContracts chain={name} />}
      {chain.sources !== undefined && <SourcesSection sources={chain.sources} />}
      {chain.rpc.length > 0 && <EndpointsSection name={name} rpc={chain.rpc} height="head" />}
      <PlotsSection name={name} measures={['lag_seconds', 'blocks_per_second', 'rows_per_second', 'latency_ms']} />
    </>
  )
}

function viewsText(views: LiveChain['views']): string {
  return views?.includes('activity') === false ? ', transfers only: wallets are looked up when requested' : ''
}

function SolanaNetwork({ name, network }: { name: string; network: LiveNetwork }) {
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        <Badge word={network.state} />
      </div>
      {network.reason !== undefined && (
        <p class="note note-bad" role="alert">
          {network.reason}
        </p>
      )}
      <dl class="facts wide">
        <Fact title="Slot">{network.slot === 0 ? '–' : countText(network.slot)}</Fact>
        <Fact title="Behind">{spanText(network.lag_seconds)}</Fact>
      </dl>
      <EndpointsSection name={name} rpc={network.rpc} height="slot" />
      <PlotsSection name={name} measures={['lag_seconds', 'latency_ms']} />
    </>
  )
}

function CoverageSection({ name, chain, from }: { name: string; chain: LiveChain; from: number }) {
  const { coverage, head, transfers_blocks } = chain
  const total = head - from + 1
  return (
    <section aria-labelledby="coverage">
      <div class="section-heading">
        <h2 id="coverage">Covered</h2>
        <EvidenceLegend />
      </div>
      <CoverageBar coverage={coverage} from={from} head={head} subject={name} />
      <p class="card-line">
        <span class="mono">{countText(from)}</span>
        <span class="mono">{head < 0 ? '–' : countText(head)}</span>
      </p>
      <table>
        <TableHead columns={['Evidence', { figures: 'Blocks' }, { figures: 'Share' }, 'Meaning']} />
        <tbody>
          {evidences.map(({ name: evidence, title, meaning }) => (
            <tr key={evidence}>
              <th scope="row">{title}</th>
              <td class="number">{countText(coverage.blocks[evidence] ?? 0)}</td>
              <td class="number">{total > 0 ? percentText(coverage.blocks[evidence] ?? 0, total) : '–'}</td>
              <td class="soft">{meaning}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">not indexed yet</th>
            <td class="number">{countText(Math.max(0, total - coveredBlocks(coverage)))}</td>
            <td class="number">{total > 0 ? percentText(Math.max(0, total - coveredBlocks(coverage)), total) : '–'}</td>
            <td class="soft">
              still to be read, for at least one of the kept views
              {transfers_blocks !== undefined && ` (transfers: ${percentText(transfers_blocks, total)} are there)`}; the
              blocks above form{' '}
              {coverage.intervals_total === 1 ? 'one range' : `${countText(coverage.intervals_total)} ranges`}
            </td>
          </tr>
        </tbody>
      </table>
    </section>
  )
}

function ContractsSection({ name, chain, from }: { name: string; chain: LiveChain; from: number }) {
  const { contracts, head } = chain
  return (
    <section aria-labelledby="contracts">
      <div class="section-heading">
        <h2 id="contracts">
          Contracts <small class="soft">{countText(contracts.total)}</small>
        </h2>
        <EvidenceLegend />
      </div>
      <ul class="rows">
        {contracts.shown.map(({ contract, ...coverage }) => (
          <li key={contract}>
            <ReferenceText text={contract} what="address" href={hrefOf(['contract', name, contract])} />
            <CoverageBar coverage={coverage} from={from} head={head} subject={contract} />
          </li>
        ))}
      </ul>
      {contracts.total > contracts.shown.length && (
        <p class="soft">The {contracts.shown.length} with the newest blocks are shown.</p>
      )}
    </section>
  )
}

function EndpointsSection({ name, rpc, height }: { name: string; rpc: readonly Endpoint[]; height: 'head' | 'slot' }) {
  const { lines } = past.value
  const healthOf = (endpoint: string) =>
    lines.find(line => line.chain === name && line.measure === 'healthy' && line.endpoint === endpoint)?.values ?? []
  return (
    <section aria-labelledby="endpoints">
      <h2 id="endpoints">Endpoints</h2>
      <div class="table-scroll">
        <table class="stacked">
          <TableHead
            columns={[
              'Endpoint',
              'State',
              'The last hour',
              { figures: height === 'head' ? 'Head' : 'Slot' },
              { figures: 'Answers in' },
              { figures: 'Requests' },
              { figures: 'Errors' },
            ]}
          />
          <tbody>
            {rpc.map(endpoint => (
              <tr key={endpoint.endpoint}>
                <th scope="row" data-title="Endpoint" class="mono">
                  {endpoint.endpoint}
                </th>
                <td data-title="State">
                  <Badge word={endpoint.healthy ? 'healthy' : 'failing'} />
                  {!endpoint.healthy && <small class="reason">{endpoint.reason ?? endpoint.fault}</small>}
                  {endpoint.history_from !== undefined && (
                    <small> has blocks from {countText(endpoint.history_from)}</small>
                  )}
                </td>
                <td data-title="The last hour">
                  <HealthStrip values={healthOf(endpoint.endpoint)} subject={endpoint.endpoint} />
                </td>
                <Cell title={height === 'head' ? 'Head' : 'Slot'} value={endpoint[height]} />
                <Cell title="Answers in" value={endpoint.latency_ms} unit=" ms" />
                <Cell title="Requests" value={endpoint.requests} />
                <Cell title="Errors" value={endpoint.errors} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Cell({ title, value, unit = '' }: { title: string; value: number | undefined; unit?: string }) {
  return (
    <td data-title={title} class="number">
      {value === undefined ? '–' : `${countText(Math.round(value))}${unit}`}
    </td>
  )
}

const plots = {
  lag_seconds: { title: 'Behind', unit: 'seconds' },
  blocks_per_second: { title: 'Blocks', unit: 'a second' },
  rows_per_second: { title: 'Rows', unit: 'a second' },
  latency_ms: { title: 'Endpoints', unit: 'milliseconds to answer' },
} as const

function PlotsSection({ name, measures }: { name: string; measures: readonly (keyof typeof plots)[] }) {
  const { at, lines } = past.value
  return (
    <section aria-labelledby="past">
      <h2 id="past">The last hour</h2>
      <div class="plots">
        {measures.map(measure => (
          <Plot key={measure} {...plots[measure]} at={at} lines={linesOf(lines, measure, name)} />
        ))}
      </div>
    </section>
  )
}
