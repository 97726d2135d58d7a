// The operations by subject beside the page of one, with their filter. What the filter names and is not served is said
// below, with what the docs say.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { notServedAt, notServedBeside, notServedMax } from '../search/not-served.ts'
import { openSearchFor } from '../search/search-box.tsx'
import type { NotServed } from '../state/document.ts'
import { goTo, hrefOf } from '../state/route.ts'
import { type Entry, subjectsOf, valuesPasted } from './entries.ts'
import { filtered } from './filter.ts'

export const listOfAll = '/docs/operations.html'

export type Operations = { entries: readonly Entry[]; notServed: NotServed }
type MenuProps = Operations & { here: string | undefined; isIntroduction: boolean }

/** On a phone it is folded. */
export function Menu({ entries, notServed, here, isIntroduction }: MenuProps) {
  const text = useSignal('')
  const isOpen = useSignal(false)
  useEffect(() => {
    isOpen.value = false
  }, [here])
  const named = notServedAt(notServed, text.value)
  const found = filtered(entries, text.value)
  const missing = notServedBeside(notServed, text.value, found.length)
  // What an address leads to is in the list, whatever was looked for before.
  useEffect(() => {
    if (here !== undefined && !found.some(({ id }) => id === here)) text.value = ''
  }, [here])
  const stop = found.some(({ id }) => id === here) ? here : undefined
  return (
    <nav class={isOpen.value ? 'reference-menu open' : 'reference-menu'} aria-label="Operations">
      <button
        type="button"
        class="menu-toggle"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        {entries.find(({ id }) => id === here)?.title ?? 'All operations'}
        <span aria-hidden="true">{isOpen.value ? '▴' : '▾'}</span>
      </button>
      <div class="menu-list">
        <input
          type="search"
          aria-label="Filter operations"
          placeholder="Filter operations"
          autocomplete="off"
          spellcheck={false}
          value={text.value}
          onInput={event => {
            text.value = event.currentTarget.value
          }}
          onKeyDown={event => {
            if (event.key !== 'Enter' || text.value.trim() === '') return
            const first = named[0] ?? found[0]?.name ?? missing[0]
            const entry = found.find(({ name }) => name === first)
            if (first !== undefined) goTo(hrefOf(['explore', first], entry && valuesPasted(entry, text.value)))
          }}
        />
        {/* One stop of the Tab key: the arrow keys move on. */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the links in it have the focus */}
        <div class="menu-links" onKeyDown={moveFocus}>
          <a
            href={hrefOf(['explore'])}
            aria-current={isIntroduction ? 'page' : undefined}
            tabIndex={stop === undefined ? 0 : -1}
          >
            Introduction
          </a>
          {subjectsOf(found).map(({ subject, entries: own }) => (
            <div key={subject}>
              <h2>{subject}</h2>
              {own.map(entry => (
                <a
                  key={entry.id}
                  href={hrefOf(['explore', entry.name], valuesPasted(entry, text.value))}
                  aria-current={entry.id === here ? 'page' : undefined}
                  tabIndex={entry.id === stop ? 0 : -1}
                  title={entry.operation.path}
                >
                  <Method name={entry.operation.method} />
                  <span>{entry.title}</span>
                </a>
              ))}
            </div>
          ))}
        </div>
        {/\b(webhooks?|streams?)\b/i.test(text.value) && <Streams />}
        {text.value.trim() !== '' && found.length + missing.length === 0 && <NothingHere text={text.value.trim()} />}
        {missing.length > 0 && <Missing notServed={notServed} ids={missing} />}
        {/* A path or a command that was pasted means its operation alone. */}
        {text.value.trim() !== '' && !text.value.includes('/') && (
          <button type="button" class="plain docs-search" onClick={() => openSearchFor(text.value.trim())}>
            Search the docs for “{text.value.trim()}”
          </button>
        )}
      </div>
    </nav>
  )
}

const toldMax = 3

/** What the hosted service has by that name, and why it is not here. */
function Missing({ notServed, ids }: { notServed: NotServed; ids: readonly string[] }) {
  return (
    <section class="not-served" aria-label="Not served">
      <h2>Not served</h2>
      {ids.slice(0, notServedMax).map(id => (
        <a key={id} href={hrefOf(['explore', id])}>
          <code>{id}</code>
          <span class="soft">{notServed[id]!.why}</span>
        </a>
      ))}
      {ids.length > notServedMax && <a href={listOfAll}>{ids.length - notServedMax} more in the list</a>}
    </section>
  )
}

/** A product of its own at the hosted service, whose operations its document of the API does not list. */
function Streams() {
  return (
    <section class="not-served" aria-label="Not served">
      <h2>Not served</h2>
      <a href="/docs/guides/react-to-transfers.html">
        <code>Streams</code>
        <span class="soft">webhooks of Almanac's own take their place</span>
      </a>
    </section>
  )
}

/** What the docs say of a word that no operation has, such as webhook. */
function NothingHere({ text }: { text: string }) {
  const pages = useSignal<typeof import('../search/docs-pages.ts') | undefined>(undefined)
  useEffect(() => {
    // With the search, which is loaded once it is wanted.
    import('../search/docs-pages.ts').then(
      loaded => {
        loaded.loadDocsIndex()
        pages.value = loaded
      },
      () => undefined,
    )
  }, [pages])
  const { groups = [], isClose = true } = pages.value?.docsAnswer(text) ?? {}
  const told = isClose ? [] : groups.flatMap(({ offers }) => offers).filter(({ type }) => type === 'docs')
  return (
    <>
      <p class="soft">No operation here has “{text}”.</p>
      {told.slice(0, toldMax).map(({ title, note, href }) => (
        <a key={href} href={href}>
          {title} {note !== undefined && <span class="soft">{note}</span>}
        </a>
      ))}
      <a href={listOfAll}>What is served, and what is not</a>
    </>
  )
}

export function Method({ name }: { name: string }) {
  return <span class={`method method-${name.toLowerCase()}`}>{name}</span>
}

function moveFocus(event: KeyboardEvent): void {
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll('a')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  const places: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: links.length - 1,
  }
  const place = places[event.key]
  if (place === undefined || at < 0) return
  event.preventDefault()
  links[Math.max(0, Math.min(links.length - 1, place))]?.focus()
}
