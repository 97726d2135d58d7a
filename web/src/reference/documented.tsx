// What the document says of an operation beside its form: what a key needs, the fields of the answer, and its errors.
import { errorHref } from '../parts/failure-note.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Panel } from '../parts/panel.tsx'
import { Prose } from '../parts/prose.tsx'
import { type ApiDocument, type DocumentedAnswer, exampleIn, resolved } from '../state/document.ts'
import { type Entry, versionOf } from './entries.ts'
import { type Failure, failuresOf } from './failures.ts'
import { guidesOf, wholeListGuideOf } from './guides.ts'
import { isJsonType } from './receive.ts'
import { SchemaTree } from './schema-tree.tsx'

type Props = { entry: Entry; shown: ApiDocument }

/** What a key must have, and where to read on. */
export function Needs({ entry }: { entry: Entry }) {
  const wholeLists = wholeListGuideOf(entry)
  return (
    <p class="operation-needs">
      <span>
        <Prose text={needOf(entry)} />
      </span>
      {guidesOf(entry).map(({ title, href }) => (
        <span key={href}>
          Guide: <a href={href}>{title}</a>
        </span>
      ))}
      {wholeLists !== undefined && (
        <span>
          As one CSV or NDJSON file: <a href={wholeLists.href}>{wholeLists.title}</a>
        </span>
      )}
      <Versions entry={entry} />
    </p>
  )
}

function needOf({ operation: { 'x-scope': scope, security }, note }: Entry): string {
  if (security?.length === 0) return 'Needs no key.'
  if (scope === 'any') return 'Any key may ask.'
  if (scope !== undefined) return `Needs the scope \`${scope}\`.`
  return note === undefined ? '' : `${note.charAt(0).toUpperCase()}${note.slice(1)}.`
}

/** The page about dialects says more. */
function Versions({ entry: { older } }: { entry: Entry }) {
  if (older.length === 0) return null
  return (
    <span class="soft">
      Also under <code>v2.1</code>, and under{' '}
      {older.map(each => (
        <code key={each.path} title={each.path}>
          {versionOf(each)}
        </code>
      ))}{' '}
      with <a href="/docs/guides/moving.html#json-types-dialects">counts and flags as text</a>
    </span>
  )
}

type SchemaProps = { id: string; status: string; answer: DocumentedAnswer; shown: ApiDocument }

export function AnswerSchema({ id, status, answer, shown }: SchemaProps) {
  const content = Object.entries(answer.content ?? {}).find(([type]) => isJsonType(type))?.[1]
  const headers = Object.entries(answer.headers ?? {})
  return (
    <Panel id={`${id}-schema`} title="Response fields" note={status}>
      <p class="soft">
        <Prose text={answer.description} />
      </p>
      {content !== undefined && <SchemaTree schema={content.schema} shown={shown} like={exampleIn(content)} />}
      {headers.length > 0 && (
        <details class="headers">
          <summary>
            {headers.length} {headers.length === 1 ? 'header' : 'headers'}
          </summary>
          <ul class="schema">
            {headers.map(([name, header]) => (
              <li key={name}>
                <code class="schema-name">{name}</code>
                <p class="soft">
                  <Prose text={resolved(shown, header).description} />
                </p>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}

/** The table of errors in the docs has the same words, and how to solve each. */
export function Failures({ entry: { operation }, shown }: Props) {
  const failures = failuresOf(operation, shown)
  if (failures.length === 0) return null
  const [usual, rare] = [failures.filter(each => !each.isRare), failures.filter(each => each.isRare)]
  return (
    <Panel id={`${operation.operationId}-failures`} title="Errors" count={failures.length}>
      {usual.map(failure => (
        <FailureRow key={failure.code} failure={failure} />
      ))}
      {rare.length > 0 && (
        <details class="failures-rare" open={usual.length === 0}>
          <summary class="soft">{rare.length} more, of large requests and of the service</summary>
          {rare.map(failure => (
            <FailureRow key={failure.code} failure={failure} />
          ))}
        </details>
      )}
    </Panel>
  )
}

function FailureRow({ failure: { status, code, means, body, headers } }: { failure: Failure }) {
  return (
    <details class="failure">
      <summary>
        <code class="soft">{status}</code> <code>{code}</code>
        <span class="soft">
          <Prose text={means} />
        </span>
      </summary>
      <JsonView value={body} what="the body" />
      {headers.length > 0 && (
        <ul class="schema">
          {headers.map(({ name, says }) => (
            <li key={name}>
              <code class="schema-name">{name}</code>
              <p class="soft">
                <Prose text={says} />
              </p>
            </li>
          ))}
        </ul>
      )}
      <a href={errorHref(code)}>How to solve it</a>
    </details>
  )
}
