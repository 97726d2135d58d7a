// What every page has around it: the name, the pages, the search, whether the service is heard, light or dark.
import type { ComponentChildren } from 'preact'
import { Badge } from '../parts/badge.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Mark, MoonIcon, SearchIcon, SunIcon, SystemIcon } from '../parts/icons.tsx'
import { spanText } from '../quantities.ts'
import { openSearch, SearchBox } from '../search/search-box.tsx'
import { now } from '../state/clock.ts'
import { apiDocument } from '../state/document.ts'
import { connection, status } from '../state/live.ts'
import { hrefOf, route } from '../state/route.ts'
import { acceptOfferedKey, key, offeredKey, signOut } from '../state/session.ts'
import { theme, themes } from '../state/theme.ts'

const data = ['contract', 'erc20', 'token', 'wallet', 'account', 'block', 'transaction']
const ways = [
  { parts: ['', 'chain', 'search', ...data], title: 'Overview' },
  { parts: ['webhooks'], title: 'Webhooks' },
  { parts: ['keys'], title: 'Keys' },
  { parts: ['explore'], title: 'Reference' },
]

export function Frame({ children }: { children: ComponentChildren }) {
  const here = route.value.parts[0] ?? ''
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
          {isSandbox() && <Badge word="Sandbox" tone="busy" />}
          <nav aria-label="Pages">
            {ways.map(({ title, parts }) => (
              <a key={title} href={hrefOf([parts[0]!])} aria-current={parts.includes(here) ? 'page' : undefined}>
                {title}
              </a>
            ))}
            <a href="/docs">Docs</a>
          </nav>
          <div class="bar-end">
            <SearchButton />
            {key.value !== undefined && <News />}
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
      <SearchBox />
      {offeredKey.value !== undefined && <OfferedKey />}
      <Stale />
      <main id="main" tabIndex={-1} class={connection.value.state === 'lost' ? 'outdated' : undefined}>
        {children}
      </main>
      <footer>
        <span>Almanac {status.value?.version}</span>
        {status.value !== undefined && <span class="mono">{status.value.store.location}</span>}
      </footer>
    </>
  )
}

/** The status says so to those who are signed in, and the document of the reference to everybody. */
function isSandbox(): boolean {
  return status.value?.sandbox === true || apiDocument.value?.info['x-sandbox-key'] !== undefined
}

/** A link must not make anybody use the key of somebody else unawares. */
function OfferedKey() {
  const decline = () => {
    offeredKey.value = undefined
  }
  return (
    <Dialog title="Use the key of this link?" onClose={decline}>
      <p>
        The link that you followed carries a key, and you are signed in with another one. Everything that you do with
        the link’s key is done in the name of the key’s owner.
      </p>
      <p class="soft">It would be used in this tab until you close it. A key that this browser remembers stays so.</p>
      <div class="form-end">
        <button type="button" class="primary" onClick={decline}>
          Keep my key
        </button>
        <button type="button" onClick={acceptOfferedKey}>
          Use the link’s key
        </button>
      </div>
    </Dialog>
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

/** While nothing is heard, old figures must not be taken for new ones. A page may show none: the bar says when it heard. */
function Stale() {
  const told = connection.value
  if (told.state !== 'lost') return null
  const last = status.value === undefined ? '' : ` Last heard ${spanText((now.value - status.value.at) / 1_000)} ago.`
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
