// Whether the time of a block can be one. The hash of a block that hangs on no known one yet proves no time.
/** A day: clocks differ, and chains of tests run ahead. */
const aheadSecondsMax = 86_400

type Timed = { timestamp: number }

/** What is wrong with it; undefined if nothing is. `parent`: the block before it, where that is known. */
export function timeFault({ timestamp }: Timed, parent?: Timed): string | undefined {
  if (timestamp > Date.now() / 1_000 + aheadSecondsMax)
    return `has the time ${timestamp}, which has not come by the clock of this machine`
  if (parent !== undefined && timestamp < parent.timestamp)
    return `has the time ${timestamp}, and the block before it the later ${parent.timestamp}`
  return undefined
}
