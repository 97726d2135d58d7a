// Where a browser keeps which colours were chosen, for the console and the documentation alike. It changes nothing.

export const themePlace = 'almanac.theme'
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export function keptTheme(): Theme {
  const kept = localStorage.getItem(themePlace)
  return themes.find(name => name === kept) ?? 'system'
}
