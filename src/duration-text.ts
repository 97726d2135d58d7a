// Spans of time as people read them. Pure.

const spans: readonly (readonly [unit: string, seconds: number])[] = [
  ['y', 31_557_600],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
]

/** The two largest units, as the console writes them: `3 d 4 h`, `12 min 5 s`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const at = spans.findIndex(([, size]) => whole >= size)
  if (at === -1) return '0 s'
  const [unit, size] = spans[at]!
  const [nextUnit, nextSize] = spans[at + 1] ?? ['', 0]
  const rest = nextSize === 0 ? 0 : Math.floor((whole % size) / nextSize)
  return `${Math.floor(whole / size).toLocaleString('en-US')} ${unit}${rest === 0 ? '' : ` ${rest} ${nextUnit}`}`
}
