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
    const day = Math.floor(this.#nowMs() / dayMs)
    if (day !== this.#day) {
      this.#day = day
      this.#spent = 0
    }
    if (this.#spent >= this.requestsPerDay) return false
    this.#spent++
    return true
  }

  get renewsInMs(): number {
    return dayMs - (this.#nowMs() % dayMs)
  }
}
