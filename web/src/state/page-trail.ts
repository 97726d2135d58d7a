// Which page of a list came before one that is shown: cursors lead forward only. Kept for the tab, so that it survives a
// reload; a page that was opened by a link has no way back but the first one.
const place = 'almanac.trail'
const entriesMax = 200

type Trail = [cursor: string, before: string][]

function readTrail(): Trail {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? '[]') as Trail
  } catch {
    return []
  }
}

/** The cursor before this one, empty for the first page; undefined where it is not known. */
export function cursorBefore(cursor: string): string | undefined {
  return readTrail().find(([known]) => known === cursor)?.[1]
}

export function noteCursor(cursor: string, before: string): void {
  const others = readTrail().filter(([known]) => known !== cursor)
  try {
    sessionStorage.setItem(place, JSON.stringify([...others, [cursor, before]].slice(-entriesMax)))
  } catch {
    // Without room there is no way back but the first page.
  }
}

/** Of the page that an answer has: the address may be ahead of it. */
export function cursorOf({ url }: Response, name = 'cursor'): string | undefined {
  return new URL(url).searchParams.get(name) ?? undefined
}
