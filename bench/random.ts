// Repeatable chance for made-up history.

/** From a number in 0..1 to an index: the k-th contract gets a share that falls with 1/k. */
export function zipf(count: number, largestShare?: number): (unit: number) => number {
  const weights = Array.from({ length: count }, (_, index) => 1 / (index + 1))
  if (largestShare !== undefined) {
    const others = weights.slice(1).reduce((sum, weight) => sum + weight, 0)
    weights[0] = (others * largestShare) / (1 - largestShare)
  }
  const sums = new Float64Array(count)
  let sum = 0
  for (const [index, weight] of weights.entries()) {
    sum += weight
    sums[index] = sum
  }
  return unit => {
    const wanted = unit * sum
    let low = 0
    let high = count - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** xorshift128: quick, repeatable and good enough for bytes that must not compress. */
export class Random {
  #a: number
  #b = 0x9e3779b9
  #c = 0x243f6a88
  #d = 0xb7e15162

  constructor(seed: number) {
    this.#a = seed | 0 || 1
    for (let index = 0; index < 20; index++) this.word()
  }

  word(): number {
    const t = this.#d ^ (this.#d << 11)
    this.#d = this.#c
    this.#c = this.#b
    this.#b = this.#a
    this.#a = this.#a ^ (this.#a >>> 19) ^ t ^ (t >>> 8)
    return this.#a >>> 0
  }

  unit(): number {
    return this.word() / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.unit() * limit)
  }

  fill(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at += 4) {
      const word = this.word()
      bytes[at] = word
      if (at + 1 < to) bytes[at + 1] = word >>> 8
      if (at + 2 < to) bytes[at + 2] = word >>> 16
      if (at + 3 < to) bytes[at + 3] = word >>> 24
    }
  }
}
