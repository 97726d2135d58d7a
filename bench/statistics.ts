// Medians and percentiles of samples, and rates over the course of a run.

export function percentile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5)
}

/** What was done when so many seconds had passed; each mark counts from the start. */
export type Mark = { seconds: number; done: number }

/** The rate of each tenth of the work, where the work between two marks is taken as even. */
export function ratesOfTenths(marks: readonly Mark[]): number[] {
  const total = marks.at(-1)?.done ?? 0
  const secondsAt = (done: number): number => {
    const next = marks.findIndex(mark => mark.done >= done)
    const to = marks[next]!
    const from = marks[next - 1] ?? { seconds: 0, done: 0 }
    return from.seconds + ((to.seconds - from.seconds) * (done - from.done)) / (to.done - from.done)
  }
  if (total === 0) return []
  const times = Array.from({ length: 11 }, (_, tenth) => (tenth === 0 ? 0 : secondsAt((total * tenth) / 10)))
  return times.slice(1).map((time, at) => Math.round(total / 10 / (time - times[at]!)))
}
