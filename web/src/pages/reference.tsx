// Every operation of the document by subject, each with its form, its code and its answers: documented and asked in one
// place. Works without a key.
import { useEffect } from 'preact/hooks'
import { DocumentFailure } from '../explorer/document-failure.tsx'
import { targetOf } from '../explorer/request-text.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Panel } from '../parts/panel.tsx'
import { Paragraphs, Prose } from '../parts/prose.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Snippets } from '../parts/snippets.tsx'
import { type Entry, entriesOf, entryNamed, subjectsOf } from '../reference/entries.ts'
import { liveExamples, loadLiveExamples, withoutLiveExamples } from '../reference/live-examples.ts'
import { Menu, Method } from '../reference/menu.tsx'
import { NoOperation } from '../reference/no-operation.tsx'
import { firstValues, OperationView, sdkTabs } from '../reference/operation-view.tsx'
import { type ApiDocument, apiDocument } from '../state/document.ts'
import { isLive, status } from '../state/live.ts'
import { documentProblem, loadDocument } from '../state/load-document.ts'
import { hrefOf, route } from '../state/route.ts'
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
