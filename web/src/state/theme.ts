// Light or dark: as the system says, or as chosen here.
import { effect, signal } from '@preact/signals'
import { keptTheme, themePlace } from './theme-names.ts'

export { themes } from './theme-names.ts'

export const theme = signal(keptTheme())

const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
const systemDark = signal(systemIsDark.matches)
systemIsDark.addEventListener('change', ({ matches }) => {
  systemDark.value = matches
})

export const isDark = (): boolean => (theme.value === 'system' ? systemDark.value : theme.value === 'dark')

effect(() => {
  localStorage.setItem(themePlace, theme.value)
  document.documentElement.dataset.theme = theme.value
})
