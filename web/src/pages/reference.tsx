// Every operation of the document by subject, each with its form, its code and its answers: documented and asked in one
// place. Works without a key.
import { useSignal } from '@preact/signals'
import { Fragment } from 'preact'
import { useEffect } from 'preact/hooks'
import { DocumentFailure } from '../explorer/document-failure.tsx'
import { targetOf } from '../explorer/request-text.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { errorHref } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { Paragraphs, Prose } from '../parts/prose.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Snippets } from '../parts/snippets.tsx'
import { type Entry, entriesOf, entryNamed, subjectsOf } from '../reference/entries.ts'
import { filtered } from '../reference/filter.ts'
import { liveExamples, loadLiveExamples, withoutLiveExamples } from '../reference/live-examples.ts'
import { firstValues, OperationView, sdkTabs } from '../reference/operation-view.tsx'
import { notServedAt, notServedBeside, notServedMax } from '../search/not-served.ts'
import { openSearchFor } from '../search/search-box.tsx'
import { type ApiDocument, apiDocument, type NotServed } from '../state/document.ts'
import { isLive, status } from '../state/live.ts'
import { documentProblem, loadDocument } from '../state/load-document.ts'
import { goTo, hrefOf, route } from '../state/route.ts'
import { key, typedKey } from '../state/session.ts'
import { useTitle } from '../state/title.ts'
import '../explorer/explorer.css'
import '../reference/reference.css'

export function Reference() {
  useEffect(loadDocument, [isLive.value])
  const shown = apiDocument.value
  const sandboxKey = shown?.info['x-sandbox-key']
  useEffect(() => {
    if (key.value !== undefined) {
      if (status.value !== undefined) void loadLiveExamples()
    } else if (sandboxKey !== undefined) {
      typedKey.value ||= sandboxKey
      void loadLiveExamples(sandboxKey)
    } else if (shown !== undefined) withoutLiveExamples()
  }, [key.value, status.value === undefined, shown])
  const id = route.value.parts[1]
  useEffect(() => scrollTo(0, 0), [id])
  const entries = shown === undefined ? [] : entriesOf(shown)
  const entry = id === undefined ? undefined : entryNamed(entries, id)
  const notServed = shown?.['x-not-served'] ?? {}
  useTitle(shown === undefined ? undefined : (entry?.title ?? id), 'reference')
  if (shown === undefined) return <NoDocument />
  return (
    <div class="reference">
      <Menu entries={entries} notServed={notServed} here={entry?.id} isIntroduction={id === undefined} />
      <div class="reference-main">
        {entry !== undefined && <OperationView key={entry.id} entry={entry} shown={shown} />}
        {id === undefined && <Introduction shown={shown} entries={entries} />}
        {id !== undefined && entry === undefined && <NoOperation {...{ id, entries, notServed }} />}
      </div>
    </div>
  )
}

/** One that the hosted service has, or none at all. */
function NoOperation({ id, entries, notServed }: Operations & { id: string }) {
  const all = <a href={hrefOf(['explore'])}>All operations</a>
  const missing = notServed[id]
  if (missing === undefined) {
    const meant = filtered(entries, id).slice(0, meantMax)
    const action = (
      <>
        <button type="button" onClick={() => openSearchFor(id)}>
          Search for “{id}”
        </button>
        {all}
      </>
    )
    return (
      <EmptyState title="There is no such operation" action={action}>
        No operation has the id <code>{id}</code>.{meant.length > 0 && ' Did you mean '}
        {meant.map(({ name, title }, at) => (
          <Fragment key={name}>
            {at > 0 && ' or '}
            <a href={hrefOf(['explore', name])}>{title}</a>
          </Fragment>
        ))}
        {meant.length > 0 && '?'}
      </EmptyState>
    )
  }
  return (
    <article class="reference-operation" id={id}>
      <header>
        <h1>
          <code>{id}</code>
        </h1>
        {missing.at.map(place => {
          const [method = '', path = ''] = place.split(' ')
          return (
            <p class="path" key={place}>
              <Method name={method} /> <code>{path}</code>
            </p>
          )
        })}
      </header>
      <div class="note note-warn">
        <strong>This operation is not served.</strong>
        <p>
          Almanac does not serve <code>{id}</code>: {missing.why}. Every request for it answers 501{' '}
          <a href={errorHref('not_implemented')}>
            <code>not_implemented</code>
          </a>{' '}
          with this name, so a client can tell it from a failure.
        </p>
        <p>
          Keep sending this request to the service that you use today, and the others to Almanac:{' '}
          <a href="/docs/guides/moving.html#which-operations-are-served">which operations are served</a>.
        </p>
      </div>
      <p class="operation-needs">
        <a href={`${listOfAll}#${id}`}>What is served, and what is not</a>
        {all}
      </p>
    </article>
  )
}

function NoDocument() {
  return (
    <div class="reference">
      <nav class="reference-menu" aria-label="Operations">
        <button type="button" class="menu-toggle" disabled>
          All operations
        </button>
        <div class="menu-list">{documentProblem.value === undefined && <Skeleton rows={16} />}</div>
      </nav>
      <div class="reference-main">
        <div class="heading">
          <h1>API reference</h1>
        </div>
        <Panel id="operations" title="Operations">
          {documentProblem.value === undefined ? <Skeleton rows={12} /> : <DocumentFailure />}
        </Panel>
      </div>
    </div>
  )
}

type Operations = { entries: readonly Entry[]; notServed: NotServed }
type MenuProps = Operations & { here: string | undefined; isIntroduction: boolean }

/** On a phone it is folded. */
function Menu({ entries, notServed, here, isIntroduction }: MenuProps) {
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
            const first = named[0] ?? found[0]?.name ?? missing[0]
            if (event.key === 'Enter' && text.value.trim() !== '' && first !== undefined)
              goTo(hrefOf(['explore', first]))
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
              {own.map(({ id, name, title, operation }) => (
                <a
                  key={id}
                  href={hrefOf(['explore', name])}
                  aria-current={id === here ? 'page' : undefined}
                  tabIndex={id === stop ? 0 : -1}
                  title={operation.path}
                >
                  <Method name={operation.method} />
                  <span>{title}</span>
                </a>
              ))}
            </div>
          ))}
        </div>
        {/\b(webhooks?|streams?)\b/i.test(text.value) && <Streams />}
        {text.value.trim() !== '' && found.length + missing.length === 0 && <NothingHere text={text.value.trim()} />}
        {missing.length > 0 && <Missing notServed={notServed} ids={missing} />}
        {text.value.trim() !== '' && (
          <button type="button" class="plain docs-search" onClick={() => openSearchFor(text.value.trim())}>
            Search the docs for “{text.value.trim()}”
          </button>
        )}
      </div>
    </nav>
  )
}

const meantMax = 2

const toldMax = 3
const listOfAll = '/docs/operations.html'

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
      <a href="/docs/faq.html#does-it-send-webhooks">
        <code>Streams</code>
        <span class="soft">it sends no webhooks yet; follow new transfers instead</span>
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

function Method({ name }: { name: string }) {
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

function Introduction({ shown, entries }: { shown: ApiDocument; entries: readonly Entry[] }) {
  const [about = '', ...rest] = shown.info.description.split('\n\n')
  return (
    <>
      <div class="heading">
        <h1>API reference</h1>
        <div class="actions">
          <a class="button" href="/openapi.json">
            openapi.json
          </a>
        </div>
      </div>
      <p class="lead">
        <Prose text={about} />
      </p>
      {entries[0] !== undefined && <FirstRequest entry={entries[0]} />}
      <div class="reference-intro">
        <Paragraphs text={rest.join('\n\n')} />
      </div>
      {subjectsOf(entries).map(({ subject, entries: own }) => (
        <Panel key={subject} id={`subject-${subject}`} title={subject} count={own.length} flush>
          <ul class="operation-list">
            {own.map(({ name, title, operation: { method, path } }) => (
              <li key={name}>
                <a href={hrefOf(['explore', name])}>{title}</a>
                <Method name={method} />
                <code>{path}</code>
              </li>
            ))}
          </ul>
        </Panel>
      ))}
    </>
  )
}

/** The first operation of all, with an example that answers here. */
function FirstRequest({ entry }: { entry: Entry }) {
  const { method, path, parameters = [] } = entry.operation
  const live = liveExamples.value
  const values = live && { ...firstValues(entry, live), limit: '5' }
  return (
    <Panel
      id="first-request"
      title="Your first request"
      actions={<a href={hrefOf(['explore', entry.name])}>{entry.title}</a>}
    >
      <p class="path">
        Base URL <code>{location.origin}</code>
        <CopyButton text={location.origin} what="the base URL" />
      </p>
      {values === undefined ? (
        // As high as the code that comes.
        <Skeleton rows={5} />
      ) : (
        <Snippets
          request={{ method, url: location.origin + targetOf(path, parameters, values) }}
          more={sdkTabs(entry.operation, values)}
        />
      )}
      {key.value !== undefined && <p class="soft">Requests from these pages carry the key that you signed in with.</p>}
    </Panel>
  )
}
