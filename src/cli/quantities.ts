// Quantities as people read them. Pure.

export function contractsText(count: number): string {
  return `${countText(count)} ${count === 1 ? 'contract' : 'contracts'}`
}

export function countText(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

/** Decimal units, as providers and disks are sold. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}

/** The two largest units: `3d 4h`, `12m 5s`. */
export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds)
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'm'],
    [whole % 60, 's'],
  ] as const
  const first = parts.findIndex(([value]) => value > 0)
  if (first === -1) return '0s'
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value}${unit}`)
    .join(' ')
}

/** Never rounded up to a whole that is not reached. */
export function percentText(done: number, total: number): string {
  if (total <= 0 || done >= total) return '100%'
  return `${(Math.floor((done / total) * 1_000) / 10).toFixed(1)}%`
}

export function rateText(blocksPerSecond: number): string {
  return `${blocksPerSecond >= 10 ? countText(blocksPerSecond) : blocksPerSecond.toFixed(1)} blocks/s`
}
