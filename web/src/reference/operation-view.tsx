// One operation: what it is and takes on the left; the same request elsewhere and what is answered on the right.
import { useSignal } from '@preact/signals'
import { OperationForm } from '../explorer/operation-form.tsx'
import type { Values } from '../explorer/question.ts'
import { targetOf } from '../explorer/request-text.ts'
import { Badge } from '../parts/badge.tsx'
import { CodeView } from '../parts/code-view.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Panel } from '../parts/panel.tsx'
import { Paragraphs, Prose } from '../parts/prose.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Snippets } from '../parts/snippets.tsx'
import { type ApiDocument, type DocumentedAnswer, resolved } from '../state/document.ts'
import { key, typedKey } from '../state/session.ts'
import { type Entry, versionOf } from './entries.ts'
import { exampleOf, liveExamples } from './live-examples.ts'
import { SchemaTree } from './schema-tree.tsx'

type Received =
  | { status: number; text: string; headers: string; json?: unknown; milliseconds: number }
  | { failure: string }

type Props = { entry: Entry; shown: ApiDocument }

export function OperationView({ entry, shown }: Props) {
  const { operation, note, title } = entry
  const { operationId: id, method, path, parameters = [], requestBody } = operation
  const example = Object.values(requestBody?.content['application/json'].examples ?? {})[0]?.value
  const body = useSignal(example === undefined ? undefined : JSON.stringify(example, null, 2))
  const received = useSignal<Received | 'waiting' | undefined>(undefined)
  const given = useSignal<Values>({})
  const live = liveExamples.value
  const [success] = Object.entries(operation.responses).filter(([status]) => isSuccess(status))
  const answer = success && resolved(shown, success[1])
  const isText = answer?.content !== undefined && !Object.keys(answer.content).some(isJsonType)
  const send = async (values: Values) => {
    received.value = 'waiting'
    received.value = await receive(method, targetOf(path, parameters, values), body.value)
  }
  return (
    <article class="reference-operation" id={id}>
      <header>
        <h1>
          <Prose text={title} />
        </h1>
        <p class="path">
          <span class={`method method-${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
          <CopyButton text={path} what="the path" />
        </p>
        {note !== undefined && (
          <p class="soft">
            <Prose text={`${note.charAt(0).toUpperCase()}${note.slice(1)}.`} />
          </p>
        )}
        {operation.description !== undefined && <Paragraphs text={operation.description} />}
        <Versions entry={entry} />
      </header>
      <div class="reference-columns">
        <div class="reference-text-column">
          <Panel id={`${id}-request`} title="Request">
            {live === undefined ? (
              <Skeleton rows={4} />
            ) : (
              <OperationForm
                id={id}
                parameters={parameters}
                values={firstValues(entry, live)}
                problem={undefined}
                onAsk={send}
                onDraft={values => {
                  given.value = values
                }}
                all
                footer={() => body.value !== undefined && <BodyField id={id} body={body} />}
              />
            )}
          </Panel>
          {answer !== undefined && <AnswerSchema id={id} status={success![0]} answer={answer} shown={shown} />}
          <Failures entry={entry} shown={shown} />
        </div>
        <div class="reference-code-column">
          <Panel id={`${id}-code`} title="Code">
            <Snippets
              request={{
                method,
                url: location.origin + targetOf(path, parameters, given.value),
                body: body.value,
                isText,
              }}
            />
          </Panel>
          <div aria-live="polite">{received.value !== undefined && <Answer id={id} received={received.value} />}</div>
          {answer !== undefined && <Example id={id} status={success![0]} answer={answer} />}
        </div>
      </div>
    </article>
  )
}

function isSuccess(status: string): boolean {
  return status.startsWith('2')
}

function isJsonType(type: string): boolean {
  return /[/+]json$/.test(type)
}

/** Chains and networks begin with what is configured here, which the form knows. */
export function firstValues({ operation }: Entry, live: NonNullable<typeof liveExamples.value>): Values {
  const required = (operation.parameters ?? []).filter(({ required, name }) => required && name !== 'network')
  return Object.fromEntries(
    required
      .map(parameter => [parameter.name, exampleOf(operation, parameter, live)] as const)
      .filter(([, value]) => value !== ''),
  )
}

function Versions({ entry: { operation, older } }: { entry: Entry }) {
  if (older.length === 0) return null
  const newest = versionOf(operation)
  return (
    <p class="note">
      Shown is <code>{newest}</code>; <code>v2.1</code> is an alias of it. Also under{' '}
      {older.map(each => (
        <code key={each.path}>{each.path}</code>
      ))}
      , which answers in the <code>reference</code> dialect: counts and flags are strings.
    </p>
  )
}

function BodyField({ id, body }: { id: string; body: { value: string | undefined } }) {
  return (
    <div class="field wide">
      <label for={`${id}-body`}>
        body<span class="required"> required</span>
      </label>
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
  )
}

function Answer({ id, received }: { id: string; received: Received | 'waiting' }) {
  if (received === 'waiting') return <Skeleton rows={6} />
  if ('failure' in received) return <p class="note note-bad">{received.failure}</p>
  const tone = received.status < 300 ? 'good' : received.status < 500 ? 'warn' : 'bad'
  return (
    <Panel
      id={`${id}-answer`}
      title="Answer"
      flush
      actions={
        <>
          <Badge word={`${received.status}`} tone={tone} />
          <Badge word={`${received.milliseconds} ms`} tone="quiet" />
        </>
      }
    >
      {received.json === undefined ? (
        <CodeView text={received.text} what="the answer" />
      ) : (
        <JsonView value={received.json} what="the answer" />
      )}
      <details class="headers">
        <summary>Headers</summary>
        <CodeView text={received.headers} what="the headers" />
      </details>
    </Panel>
  )
}

function Example({ id, status, answer }: { id: string; status: string; answer: DocumentedAnswer }) {
  const [type, content] = Object.entries(answer.content ?? {})[0] ?? []
  const [example] = Object.values(content?.examples ?? {})
  if (type === undefined || example === undefined) return null
  return (
    <Panel id={`${id}-example`} title="Example answer" note={`${status} ${type}`} flush>
      {typeof example.value === 'string' ? (
        <CodeView text={example.value} what="the example" />
      ) : (
        <JsonView value={example.value} what="the example" />
      )}
    </Panel>
  )
}

type SchemaProps = { id: string; status: string; answer: DocumentedAnswer; shown: ApiDocument }

function AnswerSchema({ id, status, answer, shown }: SchemaProps) {
  const content = Object.entries(answer.content ?? {}).find(([type]) => isJsonType(type))?.[1]
  const headers = Object.entries(answer.headers ?? {})
  return (
    <Panel id={`${id}-schema`} title="Answer" note={status}>
      <p class="soft">
        <Prose text={answer.description} />
      </p>
      {content !== undefined && <SchemaTree schema={content.schema} shown={shown} />}
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

function Failures({ entry: { operation }, shown }: Props) {
  const failures = Object.entries(operation.responses).filter(([status]) => !isSuccess(status))
  if (failures.length === 0) return null
  return (
    <Panel id={`${operation.operationId}-failures`} title="Failures">
      <dl class="failures">
        {failures.map(([status, given]) => (
          <div key={status}>
            <dt>
              <code>{status}</code>
            </dt>
            <dd>
              <Prose text={resolved(shown, given).description} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  )
}

async function receive(method: string, target: string, body: string | undefined): Promise<Received> {
  const secret = key.value ?? typedKey.value.trim()
  const headers = {
    ...(secret === '' ? {} : { 'x-api-key': secret }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const startedMs = performance.now()
  try {
    const init = { method, headers, cache: 'no-store' as const, ...(body === undefined ? {} : { body }) }
    const response = await fetch(target, init)
    const text = await textOf(response)
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      milliseconds: Math.max(1, Math.round(performance.now() - startedMs)),
      headers: [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'),
      text,
      ...(isJson ? { json: JSON.parse(text) } : {}),
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
