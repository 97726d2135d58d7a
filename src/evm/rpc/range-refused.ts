// Said when endpoints refuse a range for its size: asking for less helps, asking again does not.

/** The endpoints do not answer a range of this size: ask for less. */
export class RangeRefused extends Error {
  override readonly name = 'RangeRefused'
  readonly reason: 'range-too-large' | 'too-dense'
  readonly blocksAllowed: number | undefined

  constructor(reason: RangeRefused['reason'], message: string, blocksAllowed?: number) {
    super(message)
    this.reason = reason
    this.blocksAllowed = blocksAllowed
  }
}
