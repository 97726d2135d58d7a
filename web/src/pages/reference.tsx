// The reference: the explorer's form and an answer for every operation of the document. Works without a key.
import { signal, useSignal } from '@preact/signals'
import { type ComponentChildren, Fragment } from 'preact'
import { useEffect } from 'preact/hooks'
import { OperationForm } from '../explorer/operation-form.tsx'
import type { Values } from '../explorer/question.ts'
import { curlText, targetOf } from '../explorer/request-text.ts'
import { CodeView } from '../parts/code-view.tsx'
import { Paragraphs, Prose } from '../parts/prose.tsx'
import {
  type ApiDocument,
  apiDocument,
  type DocumentedAnswer,
  type DocumentedOperation,
  loadDocument,
  operationsOf,
  resolved,
} from '../state/document.ts'
import { key } from '../state/session.ts'

/** For those who are not signed in. Kept nowhere. */
const typedKey = signal('')

export function Reference() {
  useEffect(loadDocument, [])
  const shown = apiDocument.value
  useEffect(() => {
    if (shown !== undefined) document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [shown])
  if (shown === undefined) return <p class="soft waiting">Reading the document …</p>
  const operations = operationsOf(shown)
  return (
    <div class="reference">
      <h1>Reference</h1>
      <Paragraphs text={shown.info.description} />
      <p>
        The whole document: <a href="/openapi.json">openapi.json</a>
      </p>
      <KeyField />
      <nav class="choices" aria-label="Operations">
        {operations.map(({ operationId, method, path }) => (
          <a key={operationId} href={`#${operationId}`} title={`${method} ${path}`}>
            {operationId}
          </a>
        ))}
      </nav>
      {operations.map(operation => (
        <Operation key={operation.operationId} operation={operation} shown={shown} />
      ))}
    </div>
  )
}

function KeyField() {
  if (key.value !== undefined) return <p class="soft">Requests carry the key that you signed in with.</p>
  return (
    <div class="field wide">
      <label for="reference-key">X-API-Key</label>
      <input
        id="reference-key"
        type="password"
        autocomplete="off"
        spellcheck={false}
        aria-describedby="reference-key-help"
        value={typedKey.value}
        onInput={event => {
          typedKey.value = event.currentTarget.value
        }}
      />
      <small id="reference-key-help">Sent with the requests of this page, kept nowhere.</small>
    </div>
  )
}

type Received = { status: string; headers: string; text: string } | { failure: string } | undefined

type OperationProps = { operation: DocumentedOperation; shown: ApiDocument }

function isSuccess(status: string): boolean {
  return status.startsWith('2')
}

function Operation({ operation, shown }: OperationProps) {
  const { operationId: id, method, path, parameters = [], requestBody } = operation
  const example = Object.values(requestBody?.content['application/json'].examples ?? {})[0]?.value
  const body = useSignal(example === undefined ? undefined : JSON.stringify(example, null, 2))
  const received = useSignal<Received>(undefined)
  const required = parameters.filter(parameter => parameter.required)
  const values = Object.fromEntries(required.map(parameter => [parameter.name, String(parameter.example ?? '')]))
  const send = async (given: Values) => {
    received.value = undefined
    received.value = await receive(method, targetOf(path, parameters, given), body.value)
  }
  const answersOf = (isWanted: (status: string) => boolean) =>
    Object.entries(operation.responses)
      .filter(([status]) => isWanted(status))
      .map(([status, given]) => (
        <Documented key={status} status={status} answer={resolved(shown, given)} shown={shown} />
      ))
  return (
    <section id={id}>
      <h2>
        <Prose text={operation.summary} />
      </h2>
      <p class="path">
        <code>
          <b>{method}</b> {path}
        </code>
      </p>
      {operation.description !== undefined && <Paragraphs text={operation.description} />}
      <OperationForm
        id={id}
        parameters={parameters}
        values={values}
        problem={undefined}
        onAsk={send}
        all
        footer={given => (
          <>
            {body.value !== undefined && (
              <div class="field wide">
                <label for={`${id}-body`}>body</label>
                <textarea
                  id={`${id}-body`}
                  name="body"
                  rows={6}
                  class="mono"
                  spellcheck={false}
                  value={body.value}
                  onInput={event => {
                    body.value = event.currentTarget.value
                  }}
                />
              </div>
            )}
            <CodeView
              text={curlText(location.origin + targetOf(path, parameters, given), { method, body: body.value })}
              what="the command"
            />
          </>
        )}
      />
      <div aria-live="polite">
        <Answer received={received.value} />
      </div>
      <h3>Answers</h3>
      {answersOf(isSuccess)}
      <Folded summary="Failures">{() => answersOf(status => !isSuccess(status))}</Folded>
    </section>
  )
}

function Answer({ received }: { received: Received }) {
  if (received === undefined) return null
  if ('failure' in received) return <p class="note note-bad">{received.failure}</p>
  return (
    <>
      <p>
        <b>{received.status}</b>
      </p>
      <details>
        <summary>Headers</summary>
        <CodeView text={received.headers} what="the headers" />
      </details>
      <CodeView text={received.text} what="the answer" />
    </>
  )
}

async function receive(method: string, target: string, body: string | undefined): Promise<Received> {
  const secret = key.value ?? typedKey.value.trim()
  const headers = {
    ...(secret === '' ? {} : { 'x-api-key': secret }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  try {
    const response = await fetch(target, {
      method,
      headers,
      cache: 'no-store',
      ...(body === undefined ? {} : { body }),
    })
    const text = await textOf(response)
    return {
      status: `${response.status} ${response.statusText}`,
      headers: [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'),
      text: /json/.test(response.headers.get('content-type') ?? '') ? JSON.stringify(JSON.parse(text), null, 2) : text,
    }
  } catch (error) {
    return { failure: `The request failed: ${(error as Error).message}` }
  }
}

/** Streams do not end: their first part is read. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return await response.text()
  const reader = response.body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return `${new TextDecoder().decode(value)}…`
}

function Documented({ status, answer, shown }: { status: string; answer: DocumentedAnswer; shown: ApiDocument }) {
  const summary = (
    <>
      <b>{status}</b> {answer.description}
    </>
  )
  return (
    <Folded summary={summary}>
      {() => (
        <>
          <ul>
            {Object.entries(answer.headers ?? {}).map(([name, { description }]) => (
              <li key={name}>
                <code>{name}</code>: <Prose text={description} />
              </li>
            ))}
          </ul>
          {Object.entries(answer.content ?? {}).map(([type, { schema, examples = {} }]) => (
            <Fragment key={type}>
              <p>
                <code>{type}</code>
              </p>
              {Object.entries(examples).map(([name, { value }]) => (
                <CodeView
                  key={name}
                  text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
                  what={`the example ${name}`}
                />
              ))}
              {/[/+]json$/.test(type) && (
                <Folded summary="Schema">
                  {() => <CodeView text={JSON.stringify(resolved(shown, schema), null, 2)} what="the schema" />}
                </Folded>
              )}
            </Fragment>
          ))}
        </>
      )}
    </Folded>
  )
}

/** Its content is made when it is first opened: the answers of all operations together would be most of the page. */
function Folded({ summary, children }: { summary: ComponentChildren; children: () => ComponentChildren }) {
  const wasOpened = useSignal(false)
  return (
    <details
      onToggle={() => {
        wasOpened.value = true
      }}
    >
      <summary>{summary}</summary>
      {wasOpened.value && children()}
    </details>
  )
}
