// Whether the history of one chain may be filled now, and how fast: by its settings, and by what operators ordered
// through the store. It fills nothing, and holds neither the head nor what requests ask for.
import { followSignals } from '../../abort.ts'
import { type DailyHours, isWithinHours, msUntilWorked, nextOpening, parseHours } from '../../daily-hours.ts'
import { ledgerOf } from '../../ledgers.ts'
import type { Log } from '../../log.ts'
import type { EvmMetrics } from '../../metrics.ts'
import type { ChainId } from '../../model.ts'
import type { BackfillStatus } from '../../status.ts'
import { type BackfillOrder, backfillOrder } from '../../store/backfill-order.ts'
import type { Store } from '../../store/store.ts'
import { RateBudget } from '../rate-budget.ts'

export type BackfillSettings = {
  paused: boolean
  /** In UTC, such as 22:00-06:00. */
  hours?: string | undefined
  blocksPerSecond?: number | undefined
}

export type BackfillControlOptions = {
  chain: { id: ChainId; name: string }
  store: Pick<Store, 'checkpoint' | 'putCheckpoint'>
  settings?: BackfillSettings | undefined
  log: Log
  metrics: EvmMetrics
  /** The blocks a second of history, as far as they are known. */
  measuredRate: () => number | undefined
  /** Called when the pace changes: rates of before say nothing of what comes. */
  onChange: () => void
  nowMs?: () => number
}

type Held = BackfillStatus['state']
type Rules = Pick<BackfillStatus, 'paused' | 'hours' | 'blocks_per_second'>

const noLimits: BackfillSettings = { paused: false }
const lookMs = 1_000
const reasons = { paused: 'paused', outside_hours: 'hours' } as const

export class BackfillControl {
  /** What ranges of history take before they are fetched. */
  readonly rate = new RateBudget(Number.POSITIVE_INFINITY)
  readonly #options: BackfillControlOptions
  readonly #nowMs: () => number
  #settings: BackfillSettings
  #order: BackfillOrder = {}
  #rules: Rules = {}
  #hours: DailyHours | undefined
  #state: Held = 'open'
  #turn = new AbortController()
  /** Of the last time that it was open. */
  #rateBefore: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: BackfillControlOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
    this.#settings = options.settings ?? noLimits
    this.#apply()
  }

  /** Looks for orders every second, so that one reaches a backfill that is under way. */
  start(): void {
    // What cannot be read now is read later; until then the last order holds.
    this.#timer = setInterval(() => void this.look().catch(() => {}), lookMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Takes other settings, as of a configuration that was read again. */
  configure(settings: BackfillSettings = noLimits): void {
    this.#settings = settings
    this.#apply()
  }

  async look(): Promise<void> {
    const { store, chain } = this.#options
    // One order for all ledgers of a chain.
    this.#order = await backfillOrder(store, ledgerOf(chain.id).chain)
    this.#apply()
  }

  get isHeld(): boolean {
    return this.#state !== 'open'
  }

  /** Runs work with a signal that also fires when history is held or its pace changes. False if that ended it. */
  async run(work: (signal: AbortSignal) => Promise<void>, stopping: AbortSignal): Promise<boolean> {
    const turn = this.#turn.signal
    using linked = followSignals(stopping, turn)
    try {
      await work(linked.signal)
    } catch (error) {
      // A failure of work that was told to end does not count.
      if (!turn.aborted || stopping.aborted) throw error
    }
    return !turn.aborted
  }

  /** When this many blocks will be filled; null while that is unknown, as during a pause. */
  secondsFor(blocks: number): number | null {
    if (blocks === 0) return 0
    const measured = this.isHeld ? this.#rateBefore : this.#options.measuredRate()
    if (this.#state === 'paused' || measured === undefined || measured === 0) return null
    const seconds = blocks / Math.min(measured, this.#rules.blocks_per_second ?? Number.POSITIVE_INFINITY)
    if (this.#hours === undefined) return Math.ceil(seconds)
    return Math.ceil(msUntilWorked(this.#hours, this.#nowMs(), seconds * 1_000) / 1_000)
  }

  status(): BackfillStatus {
    const opensAt =
      this.#state === 'outside_hours' ? new Date(nextOpening(this.#hours!, this.#nowMs())).toISOString() : undefined
    return { state: this.#state, ...this.#rules, ...(opensAt === undefined ? {} : { opens_at: opensAt }) }
  }

  #apply(): void {
    const before = { state: this.#state, rules: JSON.stringify(this.#rules) }
    this.#rules = rulesOf(this.#settings, this.#order)
    this.#hours = this.#rules.hours === undefined ? undefined : parseHours(this.#rules.hours)
    const isOutside = this.#hours !== undefined && !isWithinHours(this.#hours, this.#nowMs())
    this.#state = this.#rules.paused !== undefined ? 'paused' : isOutside ? 'outside_hours' : 'open'
    const { metrics, chain, onChange, measuredRate } = this.#options
    for (const [state, reason] of Object.entries(reasons))
      metrics.backfillHeld.set({ chain: chain.name, reason }, this.#state === state ? 1 : 0)
    if (before.state === this.#state && before.rules === JSON.stringify(this.#rules)) return
    if (before.state === 'open') this.#rateBefore = measuredRate()
    this.rate.perSecond = this.#rules.blocks_per_second ?? Number.POSITIVE_INFINITY
    this.#turn.abort()
    this.#turn = new AbortController()
    onChange()
    this.#say()
  }

  #say(): void {
    const { log, chain } = this.#options
    const { state, ...facts } = this.status()
    const said = { open: 'History goes on', paused: 'History paused', outside_hours: 'History waits for its hours' }
    log.info({ chain: chain.name, ...facts }, said[state])
  }
}

/** The order of an operator goes before the settings; a pause of either holds. */
function rulesOf(settings: BackfillSettings, { paused, throttle }: BackfillOrder): Rules {
  const pausedBy = paused ?? (settings.paused ? { by: 'settings' } : undefined)
  const hours = throttle?.hours ?? settings.hours
  const rate = throttle?.blocks_per_second ?? settings.blocksPerSecond
  return {
    ...(pausedBy === undefined ? {} : { paused: pausedBy }),
    ...(hours === undefined ? {} : { hours }),
    ...(rate === undefined ? {} : { blocks_per_second: rate }),
  }
}
