// Converts whole numbers of the smallest unit to text in the main unit. No rounding, no floating point.

const zero = '0'.charCodeAt(0)

/** raw / 10^decimals, exactly, without trailing zeros; `raw` is a whole number in decimal digits. */
export function exactAmount(raw: string, decimals: number): string {
  const digits = raw.padStart(decimals + 1, '0')
  const point = digits.length - decimals
  let end = digits.length
  while (end > point && digits.charCodeAt(end - 1) === zero) end--
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
}
