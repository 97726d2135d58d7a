// One chain or Solana network in full: how it stands, the map of its evidence, its contracts, its endpoints over time.
import { useEffect } from 'preact/hooks'
import { AccountsPanel } from '../chain/accounts-panel.tsx'
import { ContractsPanel, contractColumns } from '../chain/contracts-panel.tsx'
import { EndpointsPanel } from '../chain/endpoints-panel.tsx'
import { HistoryControl } from '../chain/history-control.tsx'
import { SourcesSection } from '../chain/sources-section.tsx'
import { TokensPanel } from '../chain/tokens-panel.tsx'
import { NoStatus } from '../overview/no-status.tsx'
import { Badge, ChainBadge } from '../parts/badge.tsx'
import { NotConfigured } from '../parts/not-configured.tsx'
import { Panel } from '../parts/panel.tsx'
import { ReasonText } from '../parts/reason-text.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Stat } from '../parts/stat.tsx'
import { Table, TableHead } from '../parts/table.tsx'
import { linesOf } from '../plots/past-lines.ts'
import { Plot } from '../plots/plot.tsx'
import { coveredBlocks } from '../proof-map/coverage-bar.tsx'
import { evidences } from '../proof-map/evidence.ts'
import { ProofMap } from '../proof-map/proof-map.tsx'
import { countText, percentText, rateText, spanText } from '../quantities.ts'
import { apiDocument, isChainKnown } from '../state/document.ts'
import { connection, type LiveChain, type LiveNetwork, lagOf, past, status } from '../state/live.ts'
import { loadDocument } from '../state/load-document.ts'
import { hrefOf } from '../state/route.ts'

/** The API calls a network by its name alone. */
const networks = ['mainnet', 'devnet']

export function ChainPage({ name: called }: { name: string }) {
  const told = status.value
  const name = networks.includes(called) && told?.chains[called] === undefined ? `solana ${called}` : called
  const heard = connection.value
  if (told === undefined)
    return (
      <>
        <div class="heading">
          <h1>{name}</h1>
        </div>
        {heard.state === 'lost' ? <NoStatus problem={heard.problem} /> : <Coming name={name} />}
      </>
    )
  const chain = told.chains[name]
  const network = name.startsWith('solana ') ? told.solana[name.slice('solana '.length)] : undefined
  if (chain !== undefined) return <EvmChain name={name} chain={chain} />
  if (network !== undefined) return <SolanaNetwork name={name} network={network} />
  return <Absent name={name} />
}

/** The document lists the chains that are known by name. */
function Absent({ name }: { name: string }) {
  useEffect(loadDocument, [])
  const listed = apiDocument.value
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        <Badge word="not configured" tone="warn" />
      </div>
      <section class="panel" aria-label="What to do">
        <NotConfigured
          chain={name}
          isKnown={listed === undefined || isChainKnown(listed, name)}
          action={
            <a class="button" href="#/">
              Back to the overview
            </a>
          }
        />
      </section>
    </>
  )
}

/** Whether the chain is indexed in full or on demand is not known yet: one figure has no name. */
function Coming({ name }: { name: string }) {
  const isSolana = name.startsWith('solana ')
  return (
    <>
      <Skeleton stats={isSolana ? ['Slot', 'Lag', 'Endpoints'] : ['Head', 'Final', 'Lag', '\u00a0', 'Speed']} />
      {!isSolana && (
        <>
          <Panel id="coverage" title="Coverage">
            <Skeleton rows={6} />
          </Panel>
          <Panel id="contracts" title="Contracts" flush>
            <Table columns={contractColumns}>{undefined}</Table>
          </Panel>
        </>
      )}
      <EndpointsPanel name={name} rpc={undefined} height={isSolana ? 'slot' : 'head'} />
      <PlotsPanel name={name} measures={isSolana ? networkMeasures : chainMeasures} isRead />
    </>
  )
}

function EvmChain({ name, chain }: { name: string; chain: LiveChain }) {
  const { index = 'full', from = 0, head } = chain
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        <ChainBadge of={chain} />
        <span class="soft">{index === 'full' ? `indexed in full${viewsText(chain.views)}` : 'indexed on demand'}</span>
      </div>
      <TroubleNotes name={name} />
      {chain.dispute !== undefined && <DisputeNote dispute={chain.dispute} />}
      <ChainStats name={name} chain={chain} />
      {index === 'full' && head >= 0 && <CoveragePanel name={name} chain={chain} from={from} />}
      <ContractsPanel name={name} chain={chain} />
      {(chain.erc20 !== undefined || chain.rpc.length > 0) && <TokensPanel name={name} chain={chain} />}
      <HistoryControl name={name} chain={chain} />
      {chain.sources !== undefined && <SourcesSection sources={chain.sources} />}
      {chain.rpc.length > 0 && <EndpointsPanel name={name} rpc={chain.rpc} height="head" />}
      <PlotsPanel name={name} measures={chainMeasures} isRead={head >= 0} />
    </>
  )
}

/** What the service says is wrong with it, or with all chains. */
function TroubleNotes({ name }: { name: string }) {
  const { findings = [] } = status.value ?? {}
  const concern = findings.filter(({ chain, key, tone }) =>
    chain === undefined ? key === undefined && tone === 'bad' : chain === name,
  )
  return concern.map(({ tone, text, detail }) => (
    <div key={text} class={`note note-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong>{text}</strong>
      {detail !== undefined && <ReasonText text={detail} />}
    </div>
  ))
}

function DisputeNote({ dispute }: { dispute: NonNullable<LiveChain['dispute']> }) {
  return (
    <div class="note note-bad">
      <strong>Endpoints disagree on block {countText(dispute.block)}.</strong>
      <ul>
        {dispute.hashes.map(({ hash, endpoints }) => (
          <li key={hash}>
            <span class="mono whole">{hash}</span>: {endpoints.join(', ')}
          </li>
        ))}
      </ul>
    </div>
  )
}

function ChainStats({ name, chain }: { name: string; chain: LiveChain }) {
  const { head, finalized, rates, eta_seconds, index = 'full', from = 0, coverage, complete } = chain
  const { head_age_seconds: age, head_old, blocks_left } = chain
  const total = head - from + 1
  return (
    <dl class="stats">
      <Stat
        label="Head"
        value={head < 0 ? '–' : <a href={hrefOf(['block', name, `${head}`])}>{countText(head)}</a>}
        note={age == null ? undefined : `${spanText(age)} old`}
        tone={head_old ? 'bad' : undefined}
      />
      <Stat
        label="Final"
        value={finalized < 0 ? '–' : countText(finalized)}
        note={head < 0 || finalized < 0 ? undefined : `${countText(head - finalized)} below the head`}
      />
      <LagStat of={chain} />
      {index === 'on-demand' ? (
        <Stat label="Contracts" value={countText(chain.contracts.total)} note="followed on demand" />
      ) : (
        <Stat
          label="Coverage"
          value={total > 0 ? percentText(coveredBlocks(coverage), total) : '–'}
          note={
            complete
              ? 'every block since the first'
              : eta_seconds === null || eta_seconds <= 0
                ? leftText(blocks_left ?? Math.max(0, total - coveredBlocks(coverage)))
                : `ETA ${spanText(eta_seconds)}`
          }
        />
      )}
      <Stat
        label="Speed"
        value={rateText(rates?.blocks_per_second ?? 0)}
        unit="blocks/s"
        note={`${rateText(rates?.rows_per_second ?? 0)} rows/s over the last minute`}
      />
    </dl>
  )
}

function LagStat({ of }: { of: LiveChain | LiveNetwork }) {
  const seconds = lagOf(of)
  return seconds === undefined ? (
    <Stat label="Lag" value="–" note="no head was read yet" />
  ) : (
    <Stat label="Lag" value={spanText(seconds)} note="behind its endpoints" />
  )
}

/** Of a chain that was not reached yet it is not known. */
function leftText(blocks: number): string {
  return blocks === 0 ? 'nothing indexed yet' : `${countText(blocks)} blocks left`
}

function viewsText(views: LiveChain['views']): string {
  return views?.includes('activity') === false ? ', transfers only: wallets are looked up when requested' : ''
}

function SolanaNetwork({ name, network }: { name: string; network: LiveNetwork }) {
  const isFed = network.slot > 0 && network.rpc.every(({ slot }) => slot === undefined)
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        <Badge word={network.state} />
      </div>
      <TroubleNotes name={name} />
      <dl class="stats">
        <Stat
          label="Slot"
          value={network.slot === 0 ? '–' : countText(network.slot)}
          note={isFed && 'told by the feed'}
        />
        <LagStat of={network} />
        <Stat
          label="Endpoints"
          value={`${network.rpc.filter(({ healthy }) => healthy).length} of ${network.rpc.length}`}
          note="healthy"
        />
      </dl>
      <AccountsPanel network={name.slice('solana '.length)} />
      <EndpointsPanel name={name} rpc={network.rpc} height="slot" isFed={isFed} />
      <PlotsPanel name={name} measures={networkMeasures} isRead={network.slot > 0} />
    </>
  )
}

function CoveragePanel({ name, chain, from }: { name: string; chain: LiveChain; from: number }) {
  const { coverage, head, transfers_blocks } = chain
  const total = head - from + 1
  const missing = Math.max(0, total - coveredBlocks(coverage))
  const found = evidences.filter(({ name: evidence }) => (coverage.blocks[evidence] ?? 0) > 0)
  return (
    <Panel
      id="coverage"
      title="Coverage"
      note={
        coverage.intervals_total === 1
          ? 'one range of blocks'
          : `${countText(coverage.intervals_total)} ranges of blocks`
      }
    >
      <ProofMap chain={name} coverage={coverage} from={from} head={head} subject={name} canAsk />
      <table class="evidence-table">
        <TableHead columns={['Evidence', { figures: 'Blocks' }, { figures: 'Share' }, 'Meaning']} />
        <tbody>
          {found.map(({ name: evidence, title, meaning }) => (
            <tr key={evidence}>
              <th scope="row">{title}</th>
              <td class="number">{countText(coverage.blocks[evidence] ?? 0)}</td>
              <td class="number">{percentText(coverage.blocks[evidence] ?? 0, total)}</td>
              <td class="soft">{meaning}</td>
            </tr>
          ))}
          {missing > 0 && (
            <tr>
              <th scope="row">not indexed yet</th>
              <td class="number">{countText(missing)}</td>
              <td class="number">{percentText(missing, total)}</td>
              <td class="soft">
                still to be read, for at least one of the kept views
                {transfers_blocks !== undefined && ` (transfers: ${percentText(transfers_blocks, total)} are there)`}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </Panel>
  )
}

const plots = {
  lag_seconds: { title: 'Lag', unit: 'seconds' },
  blocks_per_second: { title: 'Blocks', unit: 'a second' },
  rows_per_second: { title: 'Rows', unit: 'a second' },
  latency_ms: { title: 'Latency of endpoints', unit: 'milliseconds' },
} as const

const chainMeasures = ['lag_seconds', 'blocks_per_second', 'rows_per_second', 'latency_ms'] as const
const networkMeasures = ['lag_seconds', 'latency_ms'] as const

type PlotsProps = {
  name: string
  measures: readonly (keyof typeof plots)[]
  /** Of a chain whose head was never read there is nothing to measure but its endpoints. */
  isRead: boolean
}

function PlotsPanel({ name, measures, isRead }: PlotsProps) {
  const { at, lines } = past.value
  const linesShown = (measure: keyof typeof plots) =>
    isRead || measure === 'latency_ms' ? linesOf(lines, measure, name) : []
  return (
    <Panel id="past" title="The last hour">
      <div class="plots">
        {measures.map(measure => (
          <Plot key={measure} {...plots[measure]} at={at} lines={linesShown(measure)} subject={name} />
        ))}
      </div>
    </Panel>
  )
}
