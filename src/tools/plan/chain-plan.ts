// Plans one chain: which of its blocks come from which source, and what each part takes, by samples. It asks sources
// and nodes, and opens no store.
import type { LoadedConfig } from '../../config/load.ts'
import type { ChainSettings } from '../../config/settings.ts'
import { missingIntervals } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import { type ConnectedChain, connectChain } from '../../evm/create-evm.ts'
import { type Part, partsOf } from '../../evm/index/missing-blocks.ts'
import { MeteredRpc } from '../../evm/rpc/chain-rpc.ts'
import { type BulkSource, SourceLost } from '../../evm/source/bulk-source.ts'
import { inlineDecoder } from '../../evm/source/decode-pool.ts'
import { codelessAmong, deploymentOf } from '../../evm/source/deployment.ts'
import { finalHeaderOf } from '../../evm/source/finality.ts'
import { FullSource } from '../../evm/source/full-source.ts'
import { sourcesOf } from '../../evm/sources.ts'
import { ledgerId } from '../../ledgers.ts'
import { createLog } from '../../log.ts'
import type { Interval } from '../../model.ts'
import { keepsTokens, tokenViews, usualViews, wholeScopeOf } from '../../views.ts'
import { lowestHeld } from './lowest-held.ts'
import type { EngineCosts } from './measured-costs.ts'
import type { ChainPlan, Spent } from './report.ts'
import { estimateBulk } from './sample-bulk.ts'
import { estimateCost } from './sample-cost.ts'
import { bulkWork, nodesWork, type Work } from './work.ts'

/**
 * About how many calls samples take of a chain. Beside them: what its nodes offer, and when a contract was deployed.
 */
const chainCallsMax = 300
/** Of a contract, however many share the samples of a chain. */
const contractSamplesMin = 2

export type ChainTask = {
  name: string
  settings: ChainSettings
  loaded: LoadedConfig
  samples: number
  spent: Spent
  costs: EngineCosts
  /** Takes what it does now. */
  onStep: (text: string) => void
}

export async function planChain(task: ChainTask, signal: AbortSignal): Promise<ChainPlan> {
  await using opened = new AsyncDisposableStack()
  const { name, settings, spent } = task
  const nodes = openNodes(task, opened)
  try {
    if (settings.index === 'full') {
      if (!keepsTokens(settings.views)) return await planLedger(task, nodes, signal)
      // Both ledgers are sampled of one chain, and share what its samples may take.
      const half = { ...task, samples: Math.ceil(task.samples / 2), callsMax: chainCallsMax / 2 }
      const plan = await planLedger(half, nodes, signal)
      const chain = { ...nodes.chain, id: ledgerId(nodes.chain.id, 'erc20') }
      const ofTokens = { ...half, settings: { ...settings, views: [...tokenViews] } }
      const tokens = await planLedger(ofTokens, { ...nodes, chain }, signal)
      return { ...plan, works: [...plan.works, ...tokens.works.map(work => ({ ...work, ledger: 'erc20' as const }))] }
    }
    return { name, missing: [], sources: [], isArchive: false, ...(await planContracts(task, nodes, signal)) }
  } finally {
    spent.calls += nodes.rpc.calls
  }
}

/** Of a ledger of a chain. */
type LedgerTask = ChainTask & { callsMax?: number }

async function planLedger(task: LedgerTask, nodes: Nodes, signal: AbortSignal): Promise<ChainPlan> {
  await using opened = new AsyncDisposableStack()
  const sources = sourcesOf(task.settings, { ...nodes, decoder: inlineDecoder, log: silent })
  for (const source of sources) opened.defer(() => source.close())
  return await planWhole(task, { nodes, sources }, signal)
}

/** What is not used of a source is in the plan. */
const silent = createLog({ level: 'silent', format: 'json' })

/** Of an archive there are none. */
type Nodes = Pick<ConnectedChain, 'chain'> & { rpc: MeteredRpc }

function openNodes({ name, settings, loaded, spent }: ChainTask, opened: AsyncDisposableStack): Nodes {
  const observer = {
    request: ({ bytes }: { bytes: number }) => {
      spent.bytes += bytes
    },
    hedge: () => {},
  }
  const { chain, rpc } = connectChain(name, settings, { chains: loaded.chains, observer })
  opened.defer(() => rpc.close())
  return { chain, rpc: new MeteredRpc(rpc) }
}

/** The final block, -1 where there is none, and how many blocks are above it. */
async function finalOf({ chain, rpc }: Nodes, signal: AbortSignal): Promise<{ final: number; notFinal: number }> {
  const head = await new FullSource(chain, rpc).head(signal)
  const final = (await finalHeaderOf(head, { chain, rpc }, signal))?.number ?? -1
  return { final, notFinal: Math.max(0, head.latest.number - final) }
}

async function planContracts(
  { name, settings, samples, costs, onStep }: ChainTask,
  nodes: Nodes,
  signal: AbortSignal,
): Promise<Pick<ChainPlan, 'works' | 'notFinal'>> {
  const { chain, rpc } = nodes
  const { final, notFinal } = await finalOf(nodes, signal)
  const works: Work[] = []
  const { views = usualViews } = settings
  const scope = wholeScopeOf(views)
  const contracts = settings.contracts.length
  const share = {
    samples: Math.max(contractSamplesMin, Math.floor(samples / contracts)),
    callsMax: Math.floor(chainCallsMax / contracts),
  }
  for (const contract of settings.contracts) {
    onStep(`when ${contract} was deployed`)
    const before = rpc.calls
    const onSample = samplesOf(contract, onStep)
    const deployed = await deploymentOf(contract, { rpc, upTo: final }, signal)
    // Without old state it is not known either.
    const isCodeless = deployed === undefined && (await codelessAmong([contract], rpc, signal)).length > 0
    const callsBefore = rpc.calls - before
    const intervals = [{ from: Math.max(settings.from, deployed?.block ?? 0), to: final }]
    const sampled = await estimateCost({ chain, rpc, intervals, contract, scope, ...share, onSample }, signal)
    const estimate = { ...sampled, calls: sampled.calls + callsBefore }
    works.push(nodesWork({ chain: name, contract, isCodeless, intervals, views }, estimate, { settings, costs }))
  }
  return { works, notFinal: works.length === 0 ? 0 : notFinal }
}

type Sources = { nodes: Nodes; sources: readonly BulkSource[] }

/** A source that loses blocks while it is sampled is asked for the others, so often. */
const lossesMax = 8

async function planWhole(task: LedgerTask, given: Sources, signal: AbortSignal): Promise<ChainPlan> {
  for (let losses = 0; ; losses++) {
    try {
      return await planParts(task, given, signal)
    } catch (error) {
      if (!(error instanceof SourceLost)) throw error
      if (losses < lossesMax) continue
      throw new AlmanacError('upstream_failed', `The sources of ${task.name} lose blocks while they are sampled.`, {
        cause: error,
        hint: 'check files with `almanac history check`.',
      })
    }
  }
}

async function planParts(task: LedgerTask, { nodes, sources }: Sources, signal: AbortSignal): Promise<ChainPlan> {
  const { name, settings, samples, callsMax = chainCallsMax, spent, costs, onStep } = task
  onStep('what its sources have')
  await Promise.all(sources.map(source => source.look(signal)))
  const isArchive = settings.rpc.length === 0
  const highest = Math.max(-1, ...sources.map(({ holds }) => holds.at(-1)?.to ?? -1))
  const { final: to, notFinal } = isArchive ? { final: highest, notFinal: 0 } : await finalOf(nodes, signal)
  const history = { from: settings.from, to }
  const wanted = history.from <= to ? [history] : []
  const ofNodes = isArchive
    ? []
    : [{ kind: 'nodes', nodes, holds: await heldByNodes(nodes, wanted, sources, signal) } as const]
  const parts = partsOf(wanted, [...sources, ...ofNodes])
  const { views = usualViews } = settings
  const scope = wholeScopeOf(views)
  const works: Work[] = []
  for (const [source, some] of Map.groupBy(parts, part => part.source)) {
    const intervals = ascending(some)
    const planned = { chain: name, contract: undefined, intervals, views }
    const onSample = samplesOf(source.kind, onStep)
    if (source.kind === 'nodes') {
      const { chain, rpc } = source.nodes
      const sampled = await estimateCost(
        { chain, rpc, intervals, contract: undefined, scope, samples, callsMax, onSample },
        signal,
      )
      works.push(nodesWork(planned, sampled, { settings, costs }))
    } else {
      const sampled = await estimateBulk({ source, intervals, scope, samples, onSample }, signal)
      spent.bytes += sampled.bytesRead
      works.push(bulkWork(planned, sampled, { source, settings, costs }))
    }
  }
  const missing = wanted.flatMap(interval => missingIntervals(parts, interval))
  const statuses = sources.map(source => source.status())
  return { name, works, missing, sources: statuses, isArchive, notFinal }
}

function samplesOf(what: string, onStep: ChainTask['onStep']) {
  onStep(what)
  return (done: number, of: number): void => onStep(`${what}, ${done} of ${of} samples`)
}

/** Pruned nodes lack the oldest blocks; only where those are wanted of them they are asked. */
async function heldByNodes(
  { rpc }: Nodes,
  wanted: readonly Interval[],
  sources: readonly BulkSource[],
  signal: AbortSignal,
): Promise<Interval[]> {
  const held = sources.flatMap(({ holds }) => holds)
  const [first] = wanted.flatMap(interval => missingIntervals(held, interval))
  if (first === undefined) return []
  const to = wanted.at(-1)!.to
  return [{ from: await lowestHeld(rpc, { from: first.from, to }, signal), to }]
}

function ascending(parts: readonly Part<unknown>[]): Interval[] {
  return parts.map(({ from, to }) => ({ from, to })).sort((a, b) => a.from - b.from)
}
