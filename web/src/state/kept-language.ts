// Where a browser keeps which language examples are shown in, for the reference and the documentation alike. It shows
// nothing.

const place = 'almanac.language'

/** As its tab is named, in small letters: `curl`, `typescript`, `python`, `sdk`. */
export function keptLanguage(): string {
  return localStorage.getItem(place) ?? ''
}

export function keepLanguage(name: string): void {
  localStorage.setItem(place, name.toLowerCase())
}
