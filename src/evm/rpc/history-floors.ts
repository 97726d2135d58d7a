// Remembers of each endpoint below which block it has nothing any more, its floor: nodes drop old blocks, receipts or
// logs, and some of them say so. That is not a fault, so nothing here counts against an endpoint. A floor is
// checked again after a while, each time later.
import type { Clock } from '../../abort.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityOf } from '../../hex.ts'
import type { Interval } from '../../model.ts'
import { Flights } from '../../once.ts'
import type { RpcFailure } from '../../rpc/failures.ts'
import type { EndpointStatus } from '../../status.ts'
import { type AskOne, highestHad, lowestHad, presenceOf } from './block-presence.ts'
import type { RpcCall, RpcHeader, Suspicion } from './port.ts'

type Floor = {
  /** The lowest block that it has. */
  from: number
  method: string
  holdMs: number
  untilMs: number
}

const holdMs = { first: 60_000, max: 6 * 3_600_000 }
/** This many blocks tell a node that dropped blocks silently from one that lags. */
const silentDepth = 1_000
/** A pool of nodes may not have the newest blocks everywhere. */
const settledDepth = 64

export class HistoryFloors {
  readonly #clock: Clock
  readonly #askOne: (endpoint: string) => AskOne
  readonly #floors = new Map<string, Floor>()
  /** One look at a time for each endpoint. */
  readonly #looks = new Flights<string, void>()
  /** When a suspicion that came to nothing may be had again. */
  readonly #clearedUntilMs = new Map<string, number>()
  readonly #surveyed = new Set<string>()

  constructor({ clock, askOne }: { clock: Clock; askOne: (endpoint: string) => AskOne }) {
    this.#clock = clock
    this.#askOne = askOne
  }

  /** The lowest block that the endpoint has; undefined where nothing is known to be gone. */
  of(endpoint: string): number | undefined {
    return this.#floors.get(endpoint)?.from
  }

  lacks(endpoint: string, block: number): boolean {
    return block < (this.of(endpoint) ?? 0)
  }

  /** The lowest block that some endpoint may have. An endpoint whose floor is due for a check may have all. */
  lowest(endpoints: readonly string[]): number {
    const froms = endpoints.map(endpoint => (this.#isDue(endpoint) ? 0 : (this.of(endpoint) ?? 0)))
    return froms.length === 0 ? 0 : Math.min(...froms)
  }

  /** It said that it no longer has the blocks, or some of them: then the lowest is gone. */
  refused(endpoint: string, { from, to }: Interval, method: string): void {
    this.#note(endpoint, from + 1, method)
    this.#look(endpoint, async ask => {
      const hasSome = to > from && (await presenceOf(ask, to, method)) !== 'lacked'
      if (hasSome) return await this.#find(endpoint, ask, { lacked: from, had: to, method })
      this.#note(endpoint, to + 1, method)
      // The lowest that it has is above all that it was asked for.
      const newer = await highestHad(ask, Math.max(to + 1, (await headOf(ask)) - settledDepth), method)
      if (newer !== undefined && newer > to) await this.#find(endpoint, ask, { lacked: to, had: newer, method })
    })
  }

  /**
   * It answered as if there were nothing. Whether it has dropped its old blocks: it lacks this one again, far below its
   * head, and gives newer ones.
   */
  async suspected(endpoint: string, { block, method }: Suspicion): Promise<boolean> {
    if (!this.lacks(endpoint, block) && this.#clock.now() >= (this.#clearedUntilMs.get(endpoint) ?? 0))
      this.#look(endpoint, async ask => {
        const newer = await this.#newer(ask, { block, method })
        if (newer === undefined) this.#clearedUntilMs.set(endpoint, this.#clock.now() + holdMs.first)
        else await this.#find(endpoint, ask, { lacked: block, had: newer, method })
      })
    await this.#looks.of(endpoint)
    return this.lacks(endpoint, block)
  }

  /**
   * Looks once whether it has the oldest logs of the chain, for answers that nothing proves: some nodes leave out what
   * they have dropped and say nothing.
   */
  async survey(endpoint: string, head: number): Promise<void> {
    if (!this.#surveyed.has(endpoint))
      this.#look(endpoint, async ask => {
        for (let block = 1; isOld(block, head); block *= 2) {
          const presence = await presenceOf(ask, block, logsMethod)
          if (presence === 'empty') continue
          const newer = presence === 'lacked' ? await this.#newer(ask, { block, method: logsMethod }) : undefined
          if (newer !== undefined) await this.#find(endpoint, ask, { lacked: block, had: newer, method: logsMethod })
          break
        }
        this.#surveyed.add(endpoint)
      })
    await this.#looks.of(endpoint)
  }

  /** Looks again where it is time; the floor holds meanwhile. */
  lookAgain(endpoint: string): void {
    const floor = this.#floors.get(endpoint)
    if (floor === undefined || !this.#isDue(endpoint)) return
    const { from, method } = floor
    this.#look(endpoint, async ask => {
      floor.untilMs = this.#clock.now() + floor.holdMs
      const isGone = (await presenceOf(ask, from - 1, method)) === 'lacked'
      if (!isGone) this.#floors.delete(endpoint)
      floor.holdMs = Math.min(2 * floor.holdMs, holdMs.max)
      floor.untilMs = this.#clock.now() + floor.holdMs
    })
  }

  /** Returns when no look is under way. */
  async settled(): Promise<void> {
    await this.#looks.settled()
  }

  forget(): void {
    this.#floors.clear()
    this.#clearedUntilMs.clear()
    this.#surveyed.clear()
  }

  #isDue(endpoint: string): boolean {
    const floor = this.#floors.get(endpoint)
    return floor !== undefined && this.#clock.now() >= floor.untilMs
  }

  async #find(endpoint: string, ask: AskOne, between: { lacked: number; had: number; method: string }): Promise<void> {
    this.#note(endpoint, await lowestHad(ask, between), between.method)
  }

  #note(endpoint: string, from: number, method: string): void {
    const known = this.#floors.get(endpoint)
    if (known !== undefined && known.from >= from) return
    const hold = known?.holdMs ?? holdMs.first
    this.#floors.set(endpoint, { from, method, holdMs: hold, untilMs: this.#clock.now() + hold })
  }

  /** A higher block that it has, if it lacks this one and the block is old; undefined otherwise. */
  async #newer(ask: AskOne, { block, method }: Suspicion): Promise<number | undefined> {
    const head = await headOf(ask)
    if (!isOld(block, head) || (await presenceOf(ask, block, method)) !== 'lacked') return undefined
    return await highestHad(ask, head - settledDepth, method)
  }

  /** What fails leaves things as they are. */
  #look(endpoint: string, look: (ask: AskOne) => Promise<void>): void {
    void this.#looks.join(endpoint, () => look(this.#askOne(endpoint)).catch(() => {}))
  }
}

async function headOf(ask: AskOne): Promise<number> {
  const [latest] = (await ask([latestCall])) as [RpcHeader | null]
  return quantityOf(latest?.number, Number.MAX_SAFE_INTEGER)
}

const logsMethod = 'eth_getLogs'
const latestCall: RpcCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }

/** Whether a node with this head that lacks the block has dropped it, and does not lag. */
export function isOld(block: number, head: number): boolean {
  return head - block >= silentDepth
}

/** Methods that ask for blocks by number: what refuses them has no such block. Others need state. */
const blockMethods = new Set(['eth_getBlockByNumber', 'eth_getBlockReceipts', 'eth_getLogs'])

export function asksForBlocks(method: string): boolean {
  return blockMethods.has(method)
}

/**
 * The lowest and the highest block that calls ask for by number, and `lowest`, where they mean one by a hash; undefined
 * where they name none. Block 0 alone does not count: nodes keep it.
 */
export function askedBlocks(calls: readonly RpcCall[], lowest = Number.POSITIVE_INFINITY): Interval | undefined {
  let [from, to] = [lowest, Number.isFinite(lowest) ? lowest : 0]
  for (const { method, params } of calls) {
    if (!blockMethods.has(method)) continue
    const filter = method === 'eth_getLogs' ? (params[0] as Record<string, unknown>) : undefined
    const ends = filter === undefined ? [params[0]] : [filter.fromBlock, filter.toBlock]
    const numbers = ends.map(end => quantityOf(end, Number.MAX_SAFE_INTEGER)).filter(number => number >= 0)
    from = Math.min(from, ...numbers)
    to = Math.max(to, ...numbers)
  }
  return to > 0 ? { from: Math.min(from, to), to } : undefined
}

type EndpointFloor = Pick<EndpointStatus, 'endpoint' | 'history_from'>

/** The lowest block that some endpoint is known to have, also while its floor is checked again; 0: perhaps all. */
export function lowestFloor(endpoints: readonly EndpointFloor[]): number {
  return endpoints.length === 0 ? 0 : Math.min(...endpoints.map(({ history_from: from = 0 }) => from))
}

/** Blocks that no source of a chain has, and those that are claimed. `sources`: what else was asked, in words. */
export type Lack = { missing: readonly Interval[]; covered: readonly Interval[]; sources: string }

/** No endpoint has the blocks below the lowest floor. Asking again does not help. */
export function outOfReach(chain: string, endpoints: readonly EndpointFloor[], lack?: Lack): AlmanacError {
  const from = lowestFloor(endpoints)
  const has = endpoints.map(({ endpoint, history_from: each }) => `${endpoint} has those from ${each}`).join(', ')
  const missing = lack === undefined || lack.sources === '' ? '' : ` Missing: ${lackText(lack)}.`
  const details: RpcFailure = { kind: 'pruned', endpoint: 'none', method: 'eth_getBlockByNumber' }
  return new AlmanacError('upstream_failed', `No ${chain} endpoint has blocks below ${from}: ${has}.${missing}`, {
    details,
    operatorsOnly: true,
    retryable: false,
    hint: `add \`history:\` or an archive node${fromHint(lack === undefined ? from : laterFrom(lack))}.`,
  })
}

/** Which they are, and what sources say of them. */
export function lackText({ missing, sources }: Pick<Lack, 'missing' | 'sources'>): string {
  const shown = missing.slice(0, 3).map(({ from, to }) => (from === to ? `block ${from}` : `blocks ${from} to ${to}`))
  const more = missing.length > 3 ? ` and ${missing.length - 3} more parts` : ''
  return `${shown.join(', ')}${more}${sources === '' ? '' : ` (${sources})`}`
}

/** Where a chain may begin instead so that nothing is missing; undefined if claimed blocks would be lost by that. */
export function laterFrom({ missing, covered }: Pick<Lack, 'missing' | 'covered'>): number | undefined {
  const later = Math.max(...missing.map(({ to }) => to)) + 1
  return covered.some(({ from }) => from < later) ? undefined : later
}

export function fromHint(from: number | undefined): string {
  return from === undefined ? '' : `, or set \`from\` to ${from}`
}
