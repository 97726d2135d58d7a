// One seed of faults of a portal: blocks are asked for until all are there or the portal is given up, and whatever is
// given must be what the chain holds.

import { type Chain, defineChain, ethereumHeaders } from '../src/chains.ts'
import { type PortalSourceOptions, portalSource } from '../src/evm/portal/portal-source.ts'
import { type BulkSource, SourceLost } from '../src/evm/source/bulk-source.ts'
import type { DecodedRange } from '../src/evm/source/chain-source.ts'
import { inlineDecoder } from '../src/evm/source/decode-pool.ts'
import { decodeRangeBodies } from '../src/evm/source/decode-range.ts'
import { createLog } from '../src/log.ts'
import type { Hash, Interval } from '../src/model.ts'
import type { WholeScope } from '../src/views.ts'
import { SimChain } from './sim/chain.ts'
import { blockText, type RenderOptions, receiptTexts } from './sim/json.ts'
import { type SimPortal, startSimPortal } from './sim/portal.ts'
import { disorders, hitches, lies, type PortalFault } from './sim/portal-faults.ts'
import { draw, streams } from './sim/random.ts'

const shape = { hashes: 'real', signed: true, transactionsPerBlock: 5, contracts: 8, deploymentSpan: 12 } as const
const height = 60

/** The chain that is asked for. */
export const trialChain = new SimChain({ ...shape, seed: 21, height, finalityDepth: 4 })
const forgery = new SimChain({ ...shape, seed: 22, height, finalityDepth: 4 })
const foreign = new SimChain({ ...shape, seed: 23, height, finalityDepth: 4, chainId: 99 })

const plain = defineChain({ name: 'sim', id: trialChain.options.chainId })
export const simulated: Chain = { ...plain, quirks: { headers: ethereumHeaders } }

const { signal } = new AbortController()
const log = createLog({ level: 'silent', format: 'text' })

export type TrialOutcome = { problem?: string; faults: string[]; refusals: number; blocks: number }

export async function portalTrial(seed: number): Promise<TrialOutcome> {
  const random = (salt: number, count: number): number => draw(seed, streams.fault, salt) % count
  const lacking =
    random(1, 5) === 0 ? { [lackable[random(2, lackable.length)]!]: random(3, 2) === 0 ? height : 30 } : {}
  const isHonest = random(4, 4) === 0
  const faults: string[] = []
  const faultOf = (request: number): PortalFault | undefined => {
    const fault = drawnFault(draw(seed, streams.fault, 100 + request), isHonest, faults.length)
    if (fault !== undefined) faults.push(fault.kind === 'status' ? `${fault.status}` : fault.kind)
    return fault
  }
  const portal = await startSimPortal({
    chain: trialChain,
    other: random(5, 2) === 0 ? forgery : foreign,
    start: random(6, 3) === 0 ? 10 : 0,
    lacking,
    blocksPerAnswer: [1, 3, 7, 100][random(7, 4)]!,
    fault: faultOf,
  })
  const source = openSource(portal, { withNode: random(8, 2) === 0 })
  const from = 10 + random(9, 40)
  const wanted = { from, to: Math.min(trialChain.finalized, from + random(10, 12)) }
  const scope: WholeScope = random(11, 2) === 0 ? 'full' : 'transfers'
  try {
    return await askAll(source, wanted, { scope, lacks: Object.keys(lacking).length > 0, isHonest, faults })
  } finally {
    await source.close()
    await portal.close()
  }
}

/** With the patience of a test. */
export function openSource(
  portal: SimPortal,
  { withNode = false, ...more }: Partial<PortalSourceOptions> & { withNode?: boolean } = {},
): BulkSource {
  return portalSource({
    chain: simulated,
    decoder: inlineDecoder,
    log,
    url: portal.url,
    requestsPerSecond: Number.POSITIVE_INFINITY,
    backoffMs: 1,
    patienceMs: 400,
    refusedMs: 1,
    restMs: { first: 1, max: 1 },
    ...(withNode ? { headersOf: async (interval: Interval) => numbersOf(interval).map(nodeHeader) } : {}),
    ...more,
  })
}

const lackable = [
  ...['block.mixHash', 'block.requestsHash', 'block.baseFeePerGas', 'transaction.accessList', 'transaction.status'],
  ...['transaction.r', 'transaction.maxFeePerGas', 'transaction.yParity'],
]

/** Fewer and fewer, so that an honest portal gives everything in the end. */
function drawnFault(drawn: number, isHonest: boolean, before: number): PortalFault | undefined {
  if (drawn % 100 < 20 + 10 * before) return undefined
  const choice = Math.floor(drawn / 128) % 100
  const seed = drawn
  if (choice < 10) return { kind: 'status', status: [429, 503, 529, 500, 502][drawn % 5]!, retryAfter: '0' }
  if (isHonest || choice < 25) return { kind: hitches[drawn % hitches.length]!, seed }
  if (choice < 40) return { kind: disorders[drawn % disorders.length]!, seed }
  if (choice === 99) return { kind: 'endless', seed }
  return { kind: lies[drawn % lies.length]!, seed }
}

async function askAll(
  source: BulkSource,
  wanted: Interval,
  trial: { scope: WholeScope; lacks: boolean; isHonest: boolean; faults: string[] },
): Promise<TrialOutcome> {
  const { scope, lacks, isHonest, faults } = trial
  let [next, refusals, problem] = [wanted.from, 0, undefined as string | undefined]
  for (let attempt = 0; attempt < 30 && next <= wanted.to && problem === undefined; attempt++) {
    await source.look(signal)
    const asked = { from: next, to: wanted.to }
    try {
      const range = await source.range(asked, { scope, lastHash: trialChain.hashOf(wanted.to) as Hash }, signal)
      problem = harmOf(range, asked, scope, lacks)
      next = range.interval.to + 1
    } catch (error) {
      if (!(error instanceof SourceLost)) throw error
      refusals++
    }
  }
  if (isHonest && next <= wanted.to && problem === undefined) problem = `blocks from ${next} on never came`
  return { ...(problem === undefined ? {} : { problem }), faults, refusals, blocks: next - wanted.from }
}

/** What is wrong with a range that was given; undefined if nothing is. */
function harmOf(range: DecodedRange, asked: Interval, scope: WholeScope, lacks: boolean): string | undefined {
  const { from, to } = range.interval
  if (from !== asked.from || to > asked.to || to < from) return `blocks ${from} to ${to} came for ${asked.from}`
  // What the block above does not name as its parent is found out when ranges are linked.
  if (range.headers.at(-1)!.hash !== trialChain.hashOf(to)) return to === asked.to ? 'another chain came' : undefined
  const isProven = range.evidence === 'receipts-root' && range.doubt === undefined
  if (!isProven && !(lacks && range.evidence === 'one-endpoint')) return `the evidence is ${range.evidence}`
  const isSame = contentOf(range) === contentOf(truthOf(range.interval, scope))
  return isSame || !isProven ? undefined : `blocks ${from} to ${to} differ`
}

function contentOf({ headers, transfers, activity, logs }: DecodedRange): string {
  const rows = transfers.map(({ payload, ...place }) => [place, Buffer.from(payload).toString('hex')])
  return JSON.stringify([headers, rows, activity, logs])
}

const truths = new Map<string, DecodedRange>()

/** What a node's answers for the same blocks give. */
export function truthOf(interval: Interval, scope: WholeScope): DecodedRange {
  const key = `${interval.from} ${interval.to} ${scope}`
  const known = truths.get(key) ?? nodeTruth({ chain: simulated, sim: trialChain, interval, scope })
  truths.set(key, known)
  return known
}

/** The same of any chain. */
export function nodeTruth(given: { chain: Chain; sim: SimChain; interval: Interval; scope: WholeScope }): DecodedRange {
  const { chain, sim, interval, scope } = given
  const rendered = { ...render, stateSyncListed: sim.options.stateSync !== 'unlisted' }
  const blocks = numbersOf(interval).map(number => sim.block(number))
  const results = [
    ...blocks.map(block => blockText(block, true, rendered)),
    ...blocks.map(block => `[${receiptTexts(block, rendered).join()}]`),
  ]
  const body = `[${results.map((result, id) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`).join()}]`
  const request = { interval, grain: 'range', withReceipts: true } as const
  const result = decodeRangeBodies({ chain, scope, request, bodies: [Buffer.from(body)] })
  if (!result.ok) throw new Error(result.failure.message)
  return result.range
}

const render: RenderOptions = { chainId: 1, stateSyncListed: true, stateSyncIndex: undefined, logTimestamps: false }

function nodeHeader(number: number): unknown {
  return JSON.parse(blockText(trialChain.block(number), false, render))
}

function numbersOf({ from, to }: Interval): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}
