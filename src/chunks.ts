// Cuts a list into parts of a size. Pure.

export function chunks<T>(list: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < list.length; at += size) parts.push(list.slice(at, at + size))
  return parts
}
