// What every page has around it: the name, the pages, the search, whether the service is heard, light or dark.
import type { ComponentChildren } from 'preact'
import { Mark, MoonIcon, SearchIcon, SunIcon, SystemIcon } from '../parts/icons.tsx'
import { spanText } from '../quantities.ts'
import { openSearch, SearchBox } from '../search/search-box.tsx'
import { now } from '../state/clock.ts'
import { connection, status } from '../state/live.ts'
import { isReference, route } from '../state/route.ts'
import { key, signOut } from '../state/session.ts'
import { theme, themes } from '../state/theme.ts'

const ways = [
  { href: '/#/', title: 'Overview', parts: ['', 'chain'] },
  {
    href: '/#/explore',
    title: 'Explorer',
    parts: ['explore', 'contract', 'token', 'wallet', 'account', 'block', 'transaction', 'search'],
  },
  { href: '/#/keys', title: 'Keys', parts: ['keys'] },
]

export function Frame({ children }: { children: ComponentChildren }) {
  const here = isReference ? undefined : (route.value.parts[0] ?? '')
  return (
    <>
      <button type="button" class="skip" onClick={skipToMain}>
        Skip to the content
      </button>
      <header class="bar">
        <div class="bar-row">
          <a class="brand" href="/#/" aria-label="Almanac, overview">
            <Mark />
            <span>Almanac</span>
          </a>
          <nav aria-label="Pages">
            {ways.map(({ href, title, parts }) => (
              <a key={href} href={href} aria-current={here !== undefined && parts.includes(here) ? 'page' : undefined}>
                {title}
              </a>
            ))}
            <a href="/reference" aria-current={isReference ? 'page' : undefined}>
              Reference
            </a>
          </nav>
          <div class="bar-end">
            {key.value !== undefined && (
              <>
                <SearchButton />
                <News />
              </>
            )}
            <ThemeButton />
            {key.value === undefined ? (
              <a href="/#/">Sign in</a>
            ) : (
              <button type="button" class="plain" onClick={() => signOut()}>
                Sign out
              </button>
            )}
          </div>
        </div>
      </header>
      {key.value !== undefined && <SearchBox />}
      <Stale />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer>
        <span>Almanac {status.value?.version}</span>
        {status.value !== undefined && <span class="mono">{status.value.store.location}</span>}
      </footer>
    </>
  )
}

/** The part behind `#` belongs to the pages, so the jump is made by hand. */
function skipToMain(): void {
  document.getElementById('main')?.focus()
}

function SearchButton() {
  const isApple = /Mac|iP(hone|ad|od)/.test(navigator.platform)
  return (
    <button type="button" class="search-button" onClick={() => openSearch()}>
      <SearchIcon />
      <span>Search…</span>
      <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
    </button>
  )
}

function News() {
  const told = connection.value
  const { state } = told
  // What answers is reached, though it has no status to tell.
  const isAnswered = told.state === 'lost' && told.problem.status !== undefined
  const words = { live: 'live', connecting: 'connecting', lost: isAnswered ? 'no status' : 'disconnected' }
  return (
    <span class={`news news-${state}`} role="status">
      <i aria-hidden="true" />
      <span>{words[state]}</span>
    </span>
  )
}

/** While nothing is heard, nobody shall take old figures for new ones. */
function Stale() {
  const told = connection.value
  if (told.state !== 'lost') return null
  const last =
    status.value === undefined ? '' : ` What is shown is ${spanText((now.value - status.value.at) / 1_000)} old.`
  return (
    <p class="note note-warn stale" role="status">
      <strong>{told.problem.message}</strong>
      {last} Reconnecting…
    </p>
  )
}

function ThemeButton() {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length]!
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Colours: ${theme.value}. Change to ${next}`}
      title={`Colours: ${theme.value}`}
      onClick={() => {
        theme.value = next
      }}
    >
      {theme.value === 'dark' ? <MoonIcon /> : theme.value === 'light' ? <SunIcon /> : <SystemIcon />}
    </button>
  )
}
