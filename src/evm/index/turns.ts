// One at a time: work that must not interleave, such as following the head and adding a contract to what is followed.

export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work, work)
    // A failed turn is its caller's matter; the next one starts all the same.
    this.#last = turn.catch(() => {})
    return turn
  }
}
