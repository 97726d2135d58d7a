// Light or dark: as the system says, or as chosen here.
import { effect, signal } from '@preact/signals'

const place = 'almanac.theme'
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const kept = localStorage.getItem(place)
export const theme = signal<Theme>(themes.find(name => name === kept) ?? 'system')

const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
const systemDark = signal(systemIsDark.matches)
systemIsDark.addEventListener('change', ({ matches }) => {
  systemDark.value = matches
})

export const isDark = (): boolean => (theme.value === 'system' ? systemDark.value : theme.value === 'dark')

effect(() => {
  localStorage.setItem(place, theme.value)
  document.documentElement.dataset.theme = theme.value
})
