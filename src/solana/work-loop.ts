// Does one piece of work after the other while there is some, never two at once. It knows no errors: work that can fail
// handles that itself.

export type WorkLoopOptions = { hasWork: () => boolean; work: () => Promise<void> }

export class WorkLoop {
  readonly #options: WorkLoopOptions
  #running: Promise<void> | undefined

  constructor(options: WorkLoopOptions) {
    this.#options = options
  }

  /** To be called whenever there may be new work. */
  wake(): void {
    if (this.#running === undefined && this.#options.hasWork()) this.#running = this.#run()
  }

  /** Resolves when all work that there was is done. */
  async idle(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      while (this.#options.hasWork()) await this.#options.work()
    } finally {
      // In the same turn as the last look for work: a `wake` between the two would start nothing.
      this.#running = undefined
    }
  }
}
