// Whether a Solana address is a point of ed25519, as those of wallets are and program-derived ones are not. Pure.

const prime = 2n ** 255n - 19n
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const yMask = 2n ** 255n - 1n

/**
 * Whether 32 bytes are the y of a point of ed25519: x² = (y² - 1) / (dy² + 1) must be a square. The Jacobi symbol of
 * the product answers that without the square root, at a third of the cost of decompressing the point.
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) & yMask
  const ySquared = (y * y) % prime
  return jacobi(((ySquared + prime - 1n) * (d * ySquared + 1n)) % prime) !== -1
}

/** (a / prime): 1 for a square, -1 for a non-square, 0 for 0. */
function jacobi(a: bigint): number {
  let [upper, lower, sign] = [a, prime, 1]
  while (upper !== 0n) {
    let twos = 0n
    while (((upper >> twos) & 0xffn) === 0n) twos += 8n
    while (((upper >> twos) & 1n) === 0n) twos++
    upper >>= twos
    const lowerBits = Number(lower & 7n)
    if (twos & 1n && (lowerBits === 3 || lowerBits === 5)) sign = -sign
    if ((upper & 3n) === 3n && (lowerBits & 3) === 3) sign = -sign
    ;[upper, lower] = [lower % upper, upper]
  }
  return lower === 1n ? sign : 0
}
