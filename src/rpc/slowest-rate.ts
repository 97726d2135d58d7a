// Watches whether an answer that has begun comes at a bearable rate. It reads nothing itself.

/** Once an answer begins, it comes at least this fast. A server may think before it begins. */
export type SlowestRate = { windowMs: number; bytesMin: number }

export const slowestRate: SlowestRate = { windowMs: 10_000, bytesMin: 1_024 }

/** Calls back when fewer bytes than that came within a window. */
export function watchRate(
  { windowMs, bytesMin }: SlowestRate,
  received: () => number,
  onSlow: (message: string) => void,
): Disposable {
  let before = received()
  const timer = setInterval(() => {
    const bytes = received() - before
    if (bytes < bytesMin) onSlow(`the answer is too slow: ${bytes} bytes in ${windowMs} ms`)
    before += bytes
  }, windowMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
