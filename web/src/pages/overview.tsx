// Everything at one look: each chain and network with what is covered, how far behind it is, and the last hour as plots.
import { useEffect } from 'preact/hooks'
import { Badge } from '../parts/badge.tsx'
import { CoverageBar, coveredBlocks, EvidenceLegend } from '../parts/coverage-bar.tsx'
import { Fact } from '../parts/fact.tsx'
import { State } from '../parts/history-control.tsx'
import { linesOf } from '../parts/past-lines.ts'
import { Plot } from '../parts/plot.tsx'
import { bytesText, countText, percentText, rateText, spanText } from '../quantities.ts'
import { type Endpoint, type LiveChain, type LiveNetwork, past, status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'

export function Overview() {
  const told = status.value
  const isTold = told !== undefined
  // For whoever measures how long it takes until there is something to see.
  useEffect(() => {
    if (isTold) performance.mark('overview-shown')
  }, [isTold])
  if (told === undefined) return <p class="soft waiting">Waiting for the first news …</p>
  const chains = Object.entries(told.chains)
  const networks = Object.entries(told.solana)
  return (
    <>
      <div class="heading">
        <h1>Overview</h1>
        <Summary chains={chains} networks={networks} />
      </div>
      {chains.length + networks.length === 0 ? (
        <NothingIndexed />
      ) : (
        <>
          {chains.length > 0 && (
            <section aria-labelledby="chains">
              <div class="section-heading">
                <h2 id="chains">Chains</h2>
                <EvidenceLegend />
              </div>
              <ul class="cards">
                {chains.map(([name, chain]) => (
                  <ChainCard key={name} name={name} chain={chain} />
                ))}
              </ul>
            </section>
          )}
          {networks.length > 0 && (
            <section aria-labelledby="networks">
              <h2 id="networks">Solana</h2>
              <ul class="cards">
                {networks.map(([name, network]) => (
                  <NetworkCard key={name} name={name} network={network} />
                ))}
              </ul>
            </section>
          )}
          <Plots />
        </>
      )}
    </>
  )
}

type Entries<Value> = readonly (readonly [string, Value])[]

function Summary({ chains, networks }: { chains: Entries<LiveChain>; networks: Entries<LiveNetwork> }) {
  const { store } = status.value!
  const all = [...chains, ...networks]
  const live = all.filter(([, { state }]) => state === 'live').length
  const rows = chains.reduce((sum, [, { rates }]) => sum + (rates?.rows_per_second ?? 0), 0)
  return (
    <dl class="facts">
      <Fact title="Live">
        {live} of {all.length}
      </Fact>
      <Fact title="Rows a second">{rateText(rows)}</Fact>
      <Fact title="Store">
        {bytesText(store.size_bytes)}{' '}
        <small class="soft">
          {store.engine}
          {store.full_in_seconds !== null && `, full in ${spanText(store.full_in_seconds)}`}
        </small>
      </Fact>
    </dl>
  )
}

function NothingIndexed() {
  return (
    <div class="note">
      <strong>This process indexes nothing.</strong>
      <p>
        No chain is configured here, or another process indexes them (<code>--only api</code>). What the store holds can
        be asked for in <a href="#/explore">the explorer</a>.
      </p>
    </div>
  )
}

function ChainCard({ name, chain }: { name: string; chain: LiveChain }) {
  const { state, head, lag_seconds, rates, eta_seconds, coverage, rpc, index, from = 0, reason } = chain
  const { head_age_seconds, head_old, backfill, transfers_blocks } = chain
  const total = head - from + 1
  return (
    <li class="card">
      <div class="card-heading">
        <h3>
          <a href={hrefOf(['chain', name])}>{name}</a>
        </h3>
        <Badge word={state} />
        <span class="head mono" title="Head">
          {head < 0 ? '–' : countText(head)}
        </span>
      </div>
      {reason !== undefined && <p class="card-trouble">{reason}</p>}
      {head_old === true && head_age_seconds != null && (
        <p class="card-trouble">The newest block is {spanText(head_age_seconds)} old.</p>
      )}
      {state === 'backfilling' && backfill !== undefined && backfill.state !== 'open' && (
        <p class="card-note">
          History: <State backfill={backfill} />
        </p>
      )}
      {index === 'on-demand' ? (
        <Contracts name={name} chain={chain} from={from} />
      ) : (
        <>
          <CoverageBar coverage={coverage} from={from} head={head} subject={name} />
          <p class="card-line">
            <span>
              <b>{total > 0 ? percentText(coveredBlocks(coverage), total) : '–'}</b> covered
            </span>
            {eta_seconds !== null && eta_seconds > 0 && <span>{spanText(eta_seconds)} left</span>}
          </p>
          {transfers_blocks !== undefined && (
            <p class="card-line">Transfers alone: {percentText(transfers_blocks, total)}</p>
          )}
        </>
      )}
      <dl class="facts small">
        <Fact title="Behind">{spanText(lag_seconds)}</Fact>
        <Fact title="Blocks/s">{rateText(rates?.blocks_per_second ?? 0)}</Fact>
        <Fact title="Rows/s">{rateText(rates?.rows_per_second ?? 0)}</Fact>
        <Endpoints rpc={rpc} />
      </dl>
    </li>
  )
}

const contractsShown = 4

function Contracts({ name, chain, from }: { name: string; chain: LiveChain; from: number }) {
  const { contracts, head } = chain
  return (
    <>
      {contracts.shown.slice(0, contractsShown).map(({ contract, ...coverage }) => (
        <CoverageBar key={contract} coverage={coverage} from={from} head={head} subject={`${name} ${contract}`} />
      ))}
      <p class="card-line">
        <span>
          <b>{countText(contracts.total)}</b> contracts on demand
        </span>
      </p>
    </>
  )
}

function NetworkCard({ name, network }: { name: string; network: LiveNetwork }) {
  return (
    <li class="card">
      <div class="card-heading">
        <h3>
          <a href={hrefOf(['chain', `solana ${name}`])}>{name}</a>
        </h3>
        <Badge word={network.state} />
        <span class="head mono" title="Slot">
          {network.slot === 0 ? '–' : countText(network.slot)}
        </span>
      </div>
      {network.reason !== undefined && <p class="card-trouble">{network.reason}</p>}
      <dl class="facts small">
        <Fact title="Behind">{spanText(network.lag_seconds)}</Fact>
        <Endpoints rpc={network.rpc} />
      </dl>
    </li>
  )
}

function Endpoints({ rpc }: { rpc: readonly Endpoint[] }) {
  const well = rpc.filter(({ healthy }) => healthy).length
  return (
    <div>
      <dt>Endpoints</dt>
      <dd class={well < rpc.length ? 'bad' : undefined}>
        {rpc.length === 0 ? 'none' : `${well} of ${rpc.length} well`}
      </dd>
    </div>
  )
}

function Plots() {
  const { at, lines } = past.value
  return (
    <section aria-labelledby="past">
      <h2 id="past">The last hour</h2>
      <div class="plots">
        <Plot title="Behind" unit="seconds" at={at} lines={linesOf(lines, 'lag_seconds')} />
        <Plot title="Rows" unit="a second" at={at} lines={linesOf(lines, 'rows_per_second')} />
        <Plot title="Blocks" unit="a second" at={at} lines={linesOf(lines, 'blocks_per_second')} />
        <Plot title="Endpoints" unit="milliseconds to answer" at={at} lines={linesOf(lines, 'latency_ms')} />
      </div>
    </section>
  )
}
