// How many requests a day, from midnight to midnight UTC, may still be sent. It only counts; a restart begins anew.

const dayMs = 86_400_000

export class DailyBudget {
  readonly requestsPerDay: number
  readonly #nowMs: () => number
  #day = 0
  #spent = 0

  constructor(requestsPerDay: number, nowMs: () => number = Date.now) {
    this.requestsPerDay = requestsPerDay
    this.#nowMs = nowMs
  }

  /** Counts one request. False, and not counted, where the day has none left. */
  spend(): boolean {
    if (this.left <= 0) return false
    this.use(1)
    return true
  }

  get left(): number {
    const day = Math.floor(this.#nowMs() / dayMs)
    if (day !== this.#day) {
      this.#day = day
      this.#spent = 0
    }
    return this.requestsPerDay - this.#spent
  }

  /** Counts requests that are sent whatever is left: a batch may be larger than that. */
  use(requests: number): void {
    this.#spent += requests
  }

  get renewsInMs(): number {
    return dayMs - (this.#nowMs() % dayMs)
  }
}
