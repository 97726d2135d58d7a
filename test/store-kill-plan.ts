// The writes of one seed, for stores that are killed meanwhile: whole blocks in bulk, newest first, some of them claimed
// later or never, contracts on demand, hot blocks, reorganisations, and everything that takes rows back. Each write may be
// repeated; none depends on what a store answers.
import assert from 'node:assert/strict'
import {
  type ActivityRow,
  type Address,
  type Block,
  type ChainId,
  type Hash,
  type Interval,
  type TransferRow,
  zeroAddress,
} from '../src/model.ts'
import { noActivity, packActivity } from '../src/store/packed-activity.ts'
import type { ColdCommit, HotBlock, Store, StoredRange } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'

export const killChains = [1, 137] as ChainId[]
/** Small numbers: folds and merges are many. */
export const killOptions = { foldBytes: 12_000, foldBlocks: 20, runsPerMerge: 3, recordsWorthMerging: 100 }
export const killBlockMax = 30_000

export type KillWrite = { name: string; apply: (store: Store) => Promise<unknown> }

/** A number from 0 up to, not including, the given one. */
export type Draw = (below: number) => number

/** Mulberry32. */
export function drawOf(seed: number): Draw {
  let state = seed | 0
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

function hex(digits: number, ...parts: number[]): string {
  return `0x${parts
    .map(part => part.toString(16).padStart(8, '0'))
    .join('')
    .padStart(digits, '7')}`
}

// Contracts and wallets that everybody uses, and many that are seen once: heavy tails.
export const killContracts = Array.from({ length: 40 }, (_, index) => hex(40, 0xc0de, index) as Address)
export const killWallets = Array.from({ length: 60 }, (_, index) => hex(40, 0xa11e, index) as Address)

function contractOf(draw: Draw): Address {
  return killContracts[Math.min(draw(40), draw(40), draw(40))]!
}

function walletOf(draw: Draw): Address {
  return draw(3) === 0 ? killWallets[Math.min(draw(60), draw(60))]! : (hex(40, 0xb0b, draw(2 ** 31)) as Address)
}

function blockOf(chain: ChainId, number: number, branch: number): Block {
  return { number, hash: hex(64, chain, number, branch) as Hash, timestamp: 1_600_000_000 + number * 2 }
}

/** What a chain looks like after the writes so far. */
type ChainPlan = {
  chain: ChainId
  /** History is filled below this block, newest first. */
  next: number
  finalized: number
  tip: number
  branch: number
  pending: StoredRange[]
}

/** Nothing is pending after the first half: an old layout that is upgraded there knew no such ranges. */
export function halfOf(length: number): number {
  return Math.floor(length / 2)
}

export function planOf(seed: number, length: number): KillWrite[] {
  const draw = drawOf(seed)
  const plans = killChains.map(
    (chain): ChainPlan => ({ chain, next: killBlockMax, finalized: -1, tip: killBlockMax, branch: 1, pending: [] }),
  )
  const rowsMax = seed % 10 === 0 ? 6_000 : 2_500
  return Array.from({ length }, (_, at) => {
    // Rows are drawn when the write is applied: a process that goes on half way makes none of those before.
    const rows = () => drawOf(seed * 1_000 + at)
    const claiming = plans[at - halfOf(length) + plans.length]
    if (claiming !== undefined) return claimAll(claiming)
    return nextWrite({ draw, rows, rowsMax }, plans[draw(6) === 0 ? 1 : 0]!)
  })
}

type Draws = { draw: Draw; rows: () => Draw; rowsMax: number }

function nextWrite(draws: Draws, plan: ChainPlan): KillWrite {
  const { draw } = draws
  if (plan.finalized < 0) return bulkWrite(draws, plan)
  const kind = draw(100)
  if (kind < 52) return bulkWrite(draws, plan)
  if (kind < 58) return againWrite(draws, plan)
  if (kind < 66) return pendingWrite(draws, plan)
  if (kind < 72) return onDemandWrite(draws, plan)
  if (kind < 84) return hotWrite(draws, plan)
  if (kind < 88) return finalizeWrite(draw, plan)
  if (kind < 91) return dropWrite(draw, plan, 'full')
  if (kind < 95) return dropWrite(draw, plan, contractOf(draw))
  if (kind < 98) return dropActivityWrite(draw, plan)
  return unfinalizeWrite(draw, plan)
}

/** The next blocks of history, in one range or two; one in five is not claimed yet. */
function bulkWrite(draws: Draws, plan: ChainPlan): KillWrite {
  const to = plan.next
  const from = Math.max(0, to - 20 - draws.draw(280))
  plan.next = Math.max(from - 1, 500)
  plan.finalized = Math.max(plan.finalized, to)
  return wholeBlocks(draws, plan, { from, to }, draws.draw(5) > 0)
}

/**
 * Blocks that are stored already, at other edges. Those that are not claimed with it are dropped before, as a repair
 * does: a commit that is killed while it takes claimed rows back leaves them without a claim.
 */
function againWrite(draws: Draws, plan: ChainPlan): KillWrite {
  const interval = storedInterval(draws.draw, plan)
  const isClaimed = draws.draw(3) > 0
  const { name, apply } = wholeBlocks(draws, plan, interval, isClaimed)
  return {
    name,
    async apply(store) {
      if (!isClaimed) await store.dropRange(plan.chain, 'full', interval)
      return apply(store)
    },
  }
}

function wholeBlocks(
  { draw, rows, rowsMax }: Draws,
  { chain, pending }: ChainPlan,
  { from, to }: Interval,
  isClaimed: boolean,
): KillWrite {
  const middle = from + Math.floor((to - from) / 2)
  const isHalved = draw(3) === 0 && middle < to
  const parts = isHalved
    ? [
        { from, to: middle },
        { from: middle + 1, to },
      ]
    : [{ from, to }]
  const ranges = parts.map(part => ({ ...part, hash: blockOf(chain, part.to, 0).hash }))
  forget(pending, { from, to })
  if (!isClaimed) pending.push(...ranges)
  // Merges of the rows of large commits go on after many small ones, in small steps.
  const count = draw(6) === 0 ? draw(rowsMax) : draw(90)
  const covered = isClaimed ? [{ from, to, evidence: 'bloom', scope: 'full' } as const] : []
  return cold(`whole blocks ${from} to ${to}`, () => ({
    ...coldRows(rows(), chain, { from, to }, { transfers: count, wallets: count }),
    ...{ ranges, covered },
  }))
}

/** Claims what is pending. */
function pendingWrite(draws: Draws, plan: ChainPlan): KillWrite {
  const [claimed] = plan.pending.splice(draws.draw(plan.pending.length), 1)
  if (claimed === undefined) return bulkWrite(draws, plan)
  return claim(plan.chain, [claimed])
}

function claimAll({ chain, pending }: ChainPlan): KillWrite {
  return claim(chain, pending.splice(0))
}

function claim(chain: ChainId, ranges: readonly StoredRange[]): KillWrite {
  const covered = ranges.map(({ from, to }) => ({ from, to, evidence: 'bloom', scope: 'full' }) as const)
  return cold('claim', () => ({ chain, covered, blocks: [], transfers: [], activity: noActivity }))
}

/** All rows of one contract in an interval: many of its places may be stored. */
function onDemandWrite({ draw, rows }: Draws, { chain, pending, ...plan }: ChainPlan): KillWrite {
  const interval = storedInterval(draw, plan)
  const contract = contractOf(draw)
  forget(pending, interval)
  return cold(`on demand ${interval.from} to ${interval.to}`, () => {
    const found = coldRows(rows(), chain, interval, { transfers: 200, wallets: 0 })
    const transfers = found.transfers.map(row => ({ ...row, contract }))
    return { ...found, transfers, covered: [{ ...interval, evidence: 'one-endpoint', scope: contract }] }
  })
}

function cold(name: string, commitOf: () => ColdCommit): KillWrite {
  return { name, apply: store => store.commitCold(commitOf()) }
}

function hotWrite({ draw, rows }: Draws, plan: ChainPlan): KillWrite {
  const { chain, finalized, tip } = plan
  const isReorganised = tip > finalized && draw(3) === 0
  const ancestor = isReorganised ? finalized + draw(tip - finalized) : Math.max(tip, finalized)
  if (isReorganised) plan.branch++
  const { branch } = plan
  const count = 1 + draw(4)
  plan.tip = ancestor + count
  return {
    name: `hot blocks above ${ancestor}`,
    apply(store) {
      const drawRow = rows()
      const blocks = Array.from({ length: count }, (_, index): HotBlock => {
        const block = blockOf(chain, ancestor + 1 + index, branch)
        const here = { from: block.number, to: block.number }
        return { ...block, transfers: transfersIn(drawRow, chain, here, 30), activity: packedIn(drawRow, here, 20) }
      })
      const covered = { scope: 'full', from: ancestor + 1, evidence: 'bloom' } as const
      return store.commitHot({ chain, ancestor, blocks, covered, head: blocks.at(-1)! })
    },
  }
}

function finalizeWrite(draw: Draw, plan: ChainPlan): KillWrite {
  const upTo = plan.finalized + draw(Math.max(1, plan.tip - plan.finalized + 1))
  plan.finalized = upTo
  return { name: `finalize ${upTo}`, apply: store => store.putChainState(plan.chain, { finalized: upTo }) }
}

function dropWrite(draw: Draw, plan: ChainPlan, scope: 'full' | Address): KillWrite {
  const interval = storedInterval(draw, plan)
  if (scope === 'full') forget(plan.pending, interval)
  return {
    name: `drop ${scope} ${interval.from} to ${interval.to}`,
    apply: store => store.dropRange(plan.chain, scope, interval),
  }
}

function dropActivityWrite(draw: Draw, plan: ChainPlan): KillWrite {
  const wallets = Array.from({ length: 1 + draw(4) }, () => killWallets[draw(60)]!)
  return { name: 'drop wallets', apply: store => store.dropActivity(plan.chain, wallets) }
}

/** Refused when it is repeated: it is done by then. */
function unfinalizeWrite(draw: Draw, plan: ChainPlan): KillWrite {
  const to = plan.finalized - 1 - draw(400)
  plan.finalized = to
  plan.tip = to
  plan.next = Math.min(plan.next, to)
  plan.branch++
  forget(plan.pending, { from: to + 1, to: Infinity })
  const { chain } = plan
  return {
    name: `unfinalize ${to}`,
    apply: store => store.unfinalize(chain, to).catch(error => assert(error.code === 'conflict', error)),
  }
}

/** Takes the pending ranges that reach into an interval out of the list. */
function forget(pending: StoredRange[], { from, to }: Interval): void {
  pending.splice(0, Infinity, ...pending.filter(range => range.to < from || range.from > to))
}

/** Some blocks of what was filled. */
function storedInterval(draw: Draw, plan: Pick<ChainPlan, 'next' | 'finalized'>): Interval {
  const from = Math.max(0, plan.next + draw(Math.max(1, plan.finalized - plan.next)))
  return { from, to: Math.min(plan.finalized, from + draw(400)) }
}

function coldRows(
  draw: Draw,
  chain: ChainId,
  interval: Interval,
  counts: { transfers: number; wallets: number },
): Omit<ColdCommit, 'covered'> {
  const transfers = transfersIn(draw, chain, interval, counts.transfers)
  const numbers = new Set([interval.from, interval.to, ...transfers.map(({ block }) => block)])
  const blocks = [...numbers].map(number => blockOf(chain, number, 0))
  return { chain, blocks, transfers, activity: packedIn(draw, interval, counts.wallets) }
}

function transfersIn(draw: Draw, chain: ChainId, { from, to }: Interval, count: number): TransferRow[] {
  return Array.from({ length: count }, (): TransferRow => {
    const block = from + draw(to - from + 1)
    const [transactionIndex, logOfContract] = [draw(8), draw(12)]
    const contract = contractOf(draw)
    // A log is of one contract.
    const logIndex = logOfContract * killContracts.length + killContracts.indexOf(contract)
    const isRange = contract === killContracts[3] && draw(4) === 0
    const payload = packTransfer({
      standard: draw(3) === 0 ? 'ERC1155' : 'ERC721',
      batch: false,
      from: draw(4) === 0 ? zeroAddress : walletOf(draw),
      to: walletOf(draw),
      operator: undefined,
      tokenId: BigInt(draw(10_000)),
      amount: 1n,
      value: BigInt(draw(3)),
      transactionHash: hex(64, chain, block, transactionIndex) as Hash,
      idCount: isRange ? 2 + draw(500) : 1,
    })
    return { block, transactionIndex, logIndex, batchIndex: draw(2), contract, payload }
  })
}

function packedIn(draw: Draw, { from, to }: Interval, count: number): ReturnType<typeof packActivity> {
  return packActivity(
    Array.from({ length: count }, (): ActivityRow => {
      const block = from + draw(to - from + 1)
      const transactionIndex = draw(200)
      const hash = hex(64, 7, block, transactionIndex) as Hash
      const ref = { block, transactionIndex, hash, timestamp: 1_600_000_000 + block * 2 }
      return { address: walletOf(draw), first: ref, last: ref }
    }),
  )
}
