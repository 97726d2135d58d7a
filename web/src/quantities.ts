// Numbers, sizes, spans and moments as people read them. Pure.

const grouped = new Intl.NumberFormat('en-US')
const shortCounts = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const oneDigit = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

export function countText(value: number): string {
  return grouped.format(value)
}

/** None of what is not indexed as a whole may only be none yet. */
export function countSoFar(count: number, isComplete: boolean): string {
  return count === 0 && !isComplete ? '–' : countText(count)
}

/** At most four digits, such as `18.9 M`. */
export function shortCountText(value: number): string {
  return shortCounts.format(value)
}

/** `1 contract`, `2 contracts`. */
export function pluralText(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Of text, because an amount may have 78 digits. */
export function amountText(amount: string): string {
  return amount.length > 12 ? shortText(amount) : countText(Number(amount))
}

/** An amount of the smallest unit in the main unit, as a row has room for it. Of unknown decimals it stays as it is. */
export function shownAmountText(amount: string, decimals: number | null): string {
  const [whole = '', fraction = ''] = mainUnit(amount, decimals ?? 0).split('.')
  if (whole.length > 15) return `${whole[0]}.${whole.slice(1, 4)}e${whole.length - 1}`
  const shown = fraction.slice(0, whole === '0' ? 6 : 4).replace(/0+$/, '')
  if (whole === '0' && shown === '' && /[1-9]/.test(fraction)) return '< 0.000001'
  return shown === '' ? groupedText(whole) : `${groupedText(whole)}.${shown}`
}

function mainUnit(amount: string, decimals: number): string {
  if (decimals === 0) return amount
  const digits = amount.padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

export function rateText(perSecond: number): string {
  return perSecond >= 100 ? grouped.format(Math.round(perSecond)) : oneDigit.format(perSecond)
}

const units = ['B', 'kB', 'MB', 'GB', 'TB']

export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${oneDigit.format(bytes / 1_000 ** power)} ${units[power]}`
}

/** Never 100 % before it is all. */
export function percentText(part: number, whole: number): string {
  if (whole <= 0) return '0 %'
  const percent = part >= whole ? 100 : Math.min(99.9, (part / whole) * 100)
  return `${oneDigit.format(percent)} %`
}

const spans: readonly [name: string, seconds: number][] = [
  ['y', 31_557_600],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
]

/** The two largest units, such as `3 h 12 min`. */
export function spanText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const at = spans.findIndex(([, size]) => whole >= size)
  if (at === -1) return '0 s'
  const [name, size] = spans[at]!
  const [nextName, nextSize] = spans[at + 1] ?? ['', 0]
  const rest = nextSize === 0 ? 0 : Math.floor((whole % size) / nextSize)
  return `${countText(Math.floor(whole / size))} ${name}${rest === 0 ? '' : ` ${rest} ${nextName}`}`
}

/** One unit is enough for an age: `3 h ago`. Clocks differ, so up to a minute ahead of this one is now. */
export function ageText(thenMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - thenMs) / 1_000)
  if (seconds < -60) return 'in the future'
  if (seconds < 2) return 'just now'
  const [name, size] = spans.find(([, least]) => seconds >= least)!
  return `${countText(Math.floor(seconds / size))} ${name} ago`
}

/** A moment without a zone is UTC: the reference dialect writes them so. */
export function parseMoment(text: string): number {
  return Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
}

export function exactText(moment: number): string {
  return new Date(moment)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$/, ' UTC')
    .replace(/Z$/, ' UTC')
}

export function shortText(text: string, keep = 4): string {
  const lead = text.startsWith('0x') ? keep + 2 : keep
  return text.length <= lead + keep + 1 ? text : `${text.slice(0, lead)}…${text.slice(-keep)}`
}

/** Wei as the main unit, exact, at most six digits behind the point. */
export function etherText(wei: string): string {
  const value = BigInt(wei)
  if (value === 0n) return '0'
  const unit = 10n ** 18n
  const digits = (value % unit).toString().padStart(18, '0').replace(/0+$/, '')
  const whole = (value / unit).toLocaleString('en-US')
  if (digits === '') return whole
  const cut = digits.slice(0, 6)
  if (value < unit && /^0+$/.test(cut)) return '< 0.000001'
  return `${whole}.${cut}${digits.length > 6 ? '…' : ''}`
}

const decimalText = /^(\d+)(\.\d+)?$/

/** A decimal of any length, its whole part grouped. */
export function groupedText(amount: string): string {
  const [, whole, fraction = ''] = decimalText.exec(amount) ?? []
  return whole === undefined ? amount : `${BigInt(whole).toLocaleString('en-US')}${fraction}`
}

/** Such as `1 contract` or `2,000 contracts`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`
}
