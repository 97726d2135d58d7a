// Where a browser keeps the key of the console: for the tab, or for good. The documentation reads it to say whether
// somebody is signed in, and never sends it.

export const keyPlace = 'almanac.key'

/** That of the tab, or else the one that is remembered. */
export function keptKey(): { key: string; remembered: boolean } | undefined {
  const kept = sessionStorage.getItem(keyPlace)
  if (kept !== null) return { key: kept, remembered: false }
  const remembered = localStorage.getItem(keyPlace)
  return remembered === null ? undefined : { key: remembered, remembered: true }
}

export function forgetKey(): void {
  localStorage.removeItem(keyPlace)
  sessionStorage.removeItem(keyPlace)
}
