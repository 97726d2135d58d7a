// What the chain's own clock says: pushed by nodes that notify of it, read from those that do not.
import { decodeClock } from './decode.ts'
import { clockSysvar } from './programs.ts'
import { readAccount, type SolanaRpc } from './rpc.ts'

/** The clock counts whole seconds: older than this it may be wrong. */
const maxAgeMs = 1_000

export type ClockReading = { slot: number; chainTime: number; atMs: number }

export class ChainClock {
  readonly #rpc: SolanaRpc
  #last: ClockReading = { slot: 0, chainTime: 0, atMs: 0 }
  #pushedSlot = 0
  #underWay: Promise<ClockReading> | undefined

  constructor(rpc: SolanaRpc) {
    this.#rpc = rpc
  }

  get last(): ClockReading {
    return this.#last
  }

  /** The slot of the last clock that was pushed: everything of the slots before it was pushed too. */
  get pushedSlot(): number {
    return this.#pushedSlot
  }

  push(entry: unknown, slot: number): void {
    const clock = decodeClock(readAccount(entry)?.data ?? new Uint8Array())
    if (clock === undefined || slot < this.#pushedSlot) return
    this.#pushedSlot = slot
    this.#last = { slot, chainTime: clock.unixTimestamp, atMs: Date.now() }
  }

  /** Forgets what was pushed: the socket is another one. */
  reset(): void {
    this.#pushedSlot = 0
  }

  /** At most a second old. */
  async now(): Promise<ClockReading> {
    if (Date.now() - this.#last.atMs <= maxAgeMs) return this.#last
    this.#underWay ??= this.#read().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  async #read(): Promise<ClockReading> {
    const atMs = Date.now()
    const { slot, value } = await this.#rpc.accounts([clockSysvar])
    const clock = value[0] === undefined ? undefined : decodeClock(value[0].data)
    if (clock !== undefined) this.#last = { slot, chainTime: clock.unixTimestamp, atMs }
    return this.#last
  }
}
