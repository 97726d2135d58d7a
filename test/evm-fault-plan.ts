// What one seed means: a chain, its endpoints with their faults, the mode of indexing, and how often the process is killed. Pure.
//
// Whatever is drawn, the first endpoint can give every answer in the end: its faults come and go, and its limits let single blocks pass.
// Two things are left out, because no reader of such answers could notice them:
// - without receipts, a dropped log is always the first one of its answer: the bloom and numbers without a hole show every loss but
//   one at the end of a block whose bits others set too (`verify.ts`);
// - on demand no logs are dropped and no pruned history is answered with `[]`: one endpoint's filtered logs carry no proof.
import type { Fault } from './sim/faults.ts'
import type { SimChainOptions } from './sim/options.ts'
import {
  batchWordings,
  finalizedWordings,
  prunedWordings,
  rangeWordings,
  rateLimitWordings,
  resultWordings,
  sizeWordings,
  timeoutWordings,
} from './sim/provider-wordings.ts'
import { draw } from './sim/random.ts'

export type Mode = 'receipts' | 'logs' | 'on-demand'
export type FaultPlan = {
  seed: number
  mode: Mode
  chain: Partial<SimChainOptions>
  /** The block hash is made of the header, and the indexer knows it. */
  ethereumHeaders: boolean
  faults: Fault[][]
  from: number
  moves: number
  kills: number
}

/** Draws that follow each other. */
export class Dice {
  readonly #seed: number
  #at = 0
  constructor(seed: number) {
    this.#seed = seed
  }
  below(count: number): number {
    return draw(this.#seed, 0xfa17, this.#at++) % count
  }
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }
  one<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }
  chance(percent: number): boolean {
    return this.below(100) < percent
  }
}

export function planOf(seed: number): FaultPlan {
  const dice = new Dice(seed)
  const mode = dice.one(['receipts', 'receipts', 'logs', 'on-demand', 'on-demand'] as const)
  const height = dice.between(60, 220)
  const finalityDepth = dice.one([8, 24, 40, 64])
  const endpoints = dice.between(1, 3)
  const missing: Fault[] = [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }]
  const plan: FaultPlan = {
    seed,
    mode,
    chain: {
      seed,
      height,
      finalityDepth,
      hashes: 'real',
      transactionsPerBlock: dice.between(2, 6),
      emptyEvery: dice.one([0, 0, 7]),
      deploymentSpan: Math.min(100, height),
      logTimestamps: dice.chance(30),
    },
    ethereumHeaders: dice.chance(50),
    faults: Array.from({ length: endpoints }, (_, at) => [
      ...(mode === 'logs' ? missing : []),
      ...faultsOf(dice, { mode, isFirst: at === 0, height }),
    ]),
    from: dice.chance(25) ? dice.below(height) : 0,
    moves: dice.between(12, 30),
    kills: dice.between(1, 3),
  }
  // Drawn last: seeds keep their stories.
  for (const faults of plan.faults) if (dice.chance(50)) faults.push({ kind: 'raw-receipts' })
  return plan
}

type About = { mode: Mode; isFirst: boolean; height: number }

function faultsOf(dice: Dice, about: About): Fault[] {
  const faults: Fault[] = Array.from({ length: dice.between(1, 3) }, () => passingFault(dice, about.mode))
  for (let count = dice.between(0, 2); count > 0; count--) faults.push(trait(dice, about))
  if (!about.isFirst && dice.chance(40)) faults.push(lastingTrait(dice, about))
  return faults
}

/** What strikes now and then. */
function passingFault(dice: Dice, mode: Mode): Fault {
  const rate = dice.between(3, 20) / 100
  const rare = dice.between(1, 3) / 100
  const drop = mode === 'logs' ? ({ kind: 'drop-logs', rate, victim: 'first' } as const) : dropOf(dice, rate)
  const faults: Fault[] = [
    rateLimit(dice, rate),
    { kind: 'server-error', rate, status: dice.one([500, 502, 503, 504]) },
    { kind: 'truncated', rate },
    { kind: 'html', rate, status: dice.one([200, 403, 502]) },
    { kind: 'slow', rate, delayMs: dice.between(10, 150) },
    { kind: 'reset', rate },
    { kind: 'hang', rate: rare },
    { kind: 'endless', rate: rare },
    { kind: 'not-json-rpc', rate },
    { kind: 'duplicate-logs', rate },
    { kind: 'unordered-logs', rate },
    { kind: 'null-block', rate },
    { kind: 'timeout-error', rate, provider: dice.one(keysOf(timeoutWordings)) },
    { kind: 'call-behind', rate },
    { kind: 'call-rate-limit', rate, provider: dice.one(keysOf(rateLimitWordings)) },
  ]
  // In the mode that proves completeness every third fault takes something away.
  if (mode !== 'on-demand' && dice.chance(33)) return drop
  return dice.one(faults)
}

function dropOf(dice: Dice, rate: number): Fault {
  return { kind: 'drop-logs', rate: rate * 2, share: dice.one([0, 0.1, 0.9]) }
}

function rateLimit(dice: Dice, rate: number): Fault {
  const fault = { kind: 'rate-limit', rate: rate / 2, provider: dice.one(keysOf(rateLimitWordings)) } as const
  return dice.chance(30) ? { ...fault, rate: 0.02, retryAfterSeconds: dice.below(2) } : fault
}

/** What an endpoint is like while the story lasts, and can be lived with. */
function trait(dice: Dice, { height }: About): Fault {
  const lags = [0, dice.between(0, 3), dice.between(1, 9)]
  return dice.one<Fault>([
    { kind: 'range-limit', blocks: dice.one([1, 5, 20, 100]), provider: dice.one(keysOf(rangeWordings)) },
    { kind: 'result-limit', results: dice.between(60, 300), provider: dice.one(keysOf(resultWordings)) },
    { kind: 'size-limit', bytes: dice.between(50_000, 300_000), provider: dice.one(keysOf(sizeWordings)) },
    { kind: 'batch-limit', calls: dice.one([1, 3, 20]), provider: dice.one(keysOf(batchWordings)) },
    { kind: 'batch-unordered' },
    { kind: 'lagging', blocks: dice.between(1, 12) },
    { kind: 'load-balanced', lags, perCall: dice.chance(50) },
    { kind: 'syncing', at: dice.between(0, height + 10) },
    { kind: 'no-finalized', provider: dice.one(keysOf(finalizedWordings)) },
    { kind: 'latency', delayMs: dice.between(1, 15) },
  ])
}

/** What makes an endpoint useless for some questions for ever. */
function lastingTrait(dice: Dice, { mode, height }: About): Fault {
  const answers = ['empty', ...keysOf(prunedWordings)] as const
  const answer = dice.one(mode === 'on-demand' ? keysOf(prunedWordings) : answers)
  return dice.one<Fault>([
    { kind: 'pruned', below: dice.between(1, height), answer },
    { kind: 'wrong-chain-id', chainId: 4_242 },
    { kind: 'method-missing', methods: ['eth_getBlockReceipts'] },
    { kind: 'method-missing', methods: ['eth_getLogs', 'eth_getCode', 'eth_getBalance'] },
  ])
}

function keysOf<Key extends string>(table: Record<Key, unknown>): Key[] {
  return Object.keys(table) as Key[]
}
