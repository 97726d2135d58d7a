// One operation: what it is and takes, the same request elsewhere, and what is answered. What is asked stands in the
// address, so that it can be linked to; a link never sends what would change something.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { AnswerView } from '../explorer/answer-view.tsx'
import { canAnswer, learnConfigured } from '../explorer/configured.ts'
import { OperationForm, SendButton } from '../explorer/operation-form.tsx'
import { sdkText, targetOf, type Values } from '../explorer/request-text.ts'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { adviceOf, errorHref, FailureNote } from '../parts/failure-note.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Panel } from '../parts/panel.tsx'
import { Paragraphs, Prose } from '../parts/prose.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { codeTab, Snippets, snippetKey } from '../parts/snippets.tsx'
import type { Tab } from '../parts/tabs.tsx'
import { bodyName } from '../search/paths.ts'
import { type ApiDocument, apiDocument, chainPairs, type DocumentedOperation, resolved } from '../state/document.ts'
import { goTo, hrefOf, route } from '../state/route.ts'
import type { Problem } from '../state/service.ts'
import { isKeyTyped, typedKeyRefusal } from '../state/session.ts'
import { useAnswer } from '../state/use-answer.ts'
import { answerFormOf, sentValues, withAnswerForm } from './answer-form.ts'
import { BodyField } from './body-field.tsx'
import { AnswerSchema, Failures, Needs } from './documented.tsx'
import type { Entry } from './entries.ts'
import { Example } from './example.tsx'
import { bodyOf, exampleOf, isFilledAtFirst } from './example-values.ts'
import { type JsonFault, jsonFaultOf } from './json-fault.ts'
import { KeyField } from './key-field.tsx'
import { liveExamples } from './live-examples.ts'
import { isJsonType, receive } from './receive.ts'
import { SchemaTree } from './schema-tree.tsx'

type Props = { entry: Entry; shown: ApiDocument }
/** What stands there is not of what the form holds. */
const changedNote = 'to the request before your changes'
const nothing = { answered: undefined, problem: undefined, loading: false }

type Sent = { number: number; target: string; body: string | undefined; accept: string | undefined }

export function OperationView({ entry, shown }: Props) {
  const { operation, title, name } = entry
  const { operationId: id, method, path, requestBody } = operation
  const parameters = withAnswerForm(operation)
  const isOrder = method !== 'GET'
  const example = Object.values(requestBody?.content['application/json'].examples ?? {})[0]?.value
  const live = liveExamples.value
  const written = useSignal<string | undefined>(undefined)
  const body = example === undefined ? undefined : (written.value ?? bodyOf(example, live ?? {}))
  const fault = useSignal<JsonFault | undefined>(undefined)
  // While a body is being written, the code has what was last JSON.
  const whole = useRef(body)
  if (body !== undefined && jsonFaultOf(body) === undefined) whole.current = body
  const sent = useSignal<Sent | undefined>(undefined)
  const given = useSignal<Values>({})
  // What was answered before is not of a request that was not sent.
  const isUnasked = useSignal(false)
  const inAddress = linkedValues(operation, route.value.query)
  const pasted = inAddress?.[bodyName]
  useEffect(() => {
    if (pasted !== undefined) written.value = laidOut(pasted)
  }, [pasted])
  const linked = isOrder ? undefined : inAddress
  const asked =
    linked === undefined
      ? sent.value
      : {
          ...{ target: targetOf(path, parameters, sentValues(linked)), body: undefined },
          accept: answerFormOf(linked),
        }
  const question = linked === undefined ? sent.value?.number : `${route.value.turn} ${asked!.target} ${asked!.accept}`
  const state = useAnswer(
    question === undefined ? undefined : String(question),
    signal => receive(method, asked!, signal),
    { isOrder },
  )
  const isRefused = isUnasked.value || fault.value !== undefined
  const { answered, problem, loading, again } = isRefused ? { ...state.value, ...nothing } : state.value
  const draftTarget = targetOf(path, parameters, sentValues(given.value))
  const accept = answerFormOf(given.value)
  const isChanged =
    asked !== undefined &&
    !loading &&
    (asked.target !== draftTarget || asked.accept !== accept || (isOrder && asked.body !== body))
  // What never left this browser is told beside the field of the key alone.
  const isUnsent = problem?.status === 401 && problem.requestId === undefined
  const isOfBody =
    body !== undefined && problem?.code === 'bad_request' && !parameters.some(each => each.name === problem.parameter)
  const isBeside = isUnsent || isOfBody || parameters.some(each => each.name === problem?.parameter)
  const isRefusedBeside = isBeside || (problem?.status === 401 && isKeyTyped.value)
  const place = useRef<HTMLDivElement>(null)
  const isSending = useRef(false)
  useEffect(() => {
    // First what stands there until it is answered: an answer may take long. A refusal is read beside its field.
    if (isSending.current && !isRefusedBeside) place.current?.scrollIntoView({ block: 'nearest' })
    if (!loading) isSending.current = false
  }, [loading])
  useEffect(() => {
    if (isKeyTyped.value && problem?.status === 401) typedKeyRefusal.value = problem.message
    learnConfigured(problem)
  }, [problem])
  const values = linked ?? (live && { ...firstValues(entry, live), ...inAddress })
  const [success] = Object.entries(operation.responses).filter(([status]) => isSuccess(status))
  const answer = success && resolved(shown, success[1])
  const isText = answer?.content !== undefined && !Object.keys(answer.content).some(isJsonType)
  const send = (chosen: Values) => {
    fault.value = body === undefined ? undefined : jsonFaultOf(body)
    if (fault.value !== undefined) {
      isUnasked.value = true
      return
    }
    isSending.current = true
    isUnasked.value = false
    if (!isOrder && Object.keys(chosen).length > 0) goTo(hrefOf(['explore', name], chosen))
    else
      sent.value = {
        number: (sent.value?.number ?? 0) + 1,
        target: targetOf(path, parameters, sentValues(chosen)),
        body,
        accept: answerFormOf(chosen),
      }
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
        <p class="path operation-id">
          <code>{name}</code>
          <CopyButton text={name} what="the id of the operation" />
        </p>
        {operation.description !== undefined && <Paragraphs text={operation.description} />}
        <Needs entry={entry} />
      </header>
      <div class="reference-columns">
        <Panel
          id={`${id}-request`}
          title="Request"
          actions={
            <>
              <KeyField />
              <SendButton id={id} isReady={values !== undefined} />
            </>
          }
        >
          {values === undefined ? (
            <Skeleton rows={4} />
          ) : (
            <OperationForm
              id={id}
              path={path}
              parameters={parameters.map(each => ({ ...each, example: exampleOf(operation, each, live ?? {}) }))}
              values={values}
              problem={problem}
              onAsk={send}
              onMissing={() => {
                isUnasked.value = true
              }}
              onDraft={draft => {
                given.value = draft
              }}
            >
              {body !== undefined && (
                <BodyField
                  {...{ id, body }}
                  fault={fault.value}
                  refusal={isOfBody && sent.value?.body === body ? problem.message : undefined}
                  onChange={text => {
                    written.value = text
                    fault.value = undefined
                  }}
                  onLeave={() => {
                    fault.value = jsonFaultOf(body)
                  }}
                />
              )}
            </OperationForm>
          )}
        </Panel>
        <div class="code-beside">
          <div>
            <Panel
              id={`${id}-code`}
              title="Code"
              note={whole.current === body ? undefined : 'with your last body that was JSON'}
            >
              {values === undefined ? (
                <Skeleton rows={4} />
              ) : (
                <Snippets
                  request={{
                    method,
                    isText: isText || accept !== undefined,
                    accept,
                    body: whole.current,
                    url: location.origin + draftTarget,
                  }}
                  more={sdkTabs(operation, given.value, whole.current)}
                />
              )}
            </Panel>
            {answer !== undefined && values !== undefined && (
              <Example
                {...{ operation, shown, answer }}
                body={example === undefined ? undefined : bodyOf(example, live ?? {})}
                status={success![0]}
                values={live !== undefined && Object.keys(live).length > 0 ? firstValues(entry, live) : undefined}
              />
            )}
          </div>
        </div>
        <div ref={place} class="reference-answer" aria-live="polite" aria-busy={loading}>
          {problem !== undefined && !isBeside && problem.body === undefined && (
            <FailureNote problem={problem} what="The request failed." onRetry={isOrder ? undefined : again} />
          )}
          {problem?.body !== undefined && (
            <Panel
              id={`${id}-answer`}
              title="Answer"
              flush
              note={isChanged ? changedNote : undefined}
              actions={<Refused problem={problem} onRetry={isOrder ? undefined : again} />}
            >
              <Advice problem={problem} />
              <JsonView value={problem.body} what="the answer" />
            </Panel>
          )}
          {answered === undefined && loading && <Skeleton rows={6} />}
          {answered !== undefined && (
            <AnswerView {...{ name, answered }} values={linked ?? {}} note={isChanged ? changedNote : undefined} />
          )}
        </div>
        <div>
          {requestBody !== undefined && (
            <Panel id={`${id}-body-schema`} title="Body fields">
              <SchemaTree schema={requestBody.content['application/json'].schema} shown={shown} isBody />
            </Panel>
          )}
          {answer !== undefined && <AnswerSchema id={id} status={success![0]} answer={answer} shown={shown} />}
        </div>
        <Failures entry={entry} shown={shown} />
      </div>
    </article>
  )
}

function Refused({ problem: { status, code }, onRetry }: { problem: Problem; onRetry: (() => void) | undefined }) {
  return (
    <>
      {onRetry !== undefined && (
        <button type="button" class="small" onClick={onRetry}>
          Try again
        </button>
      )}
      {code !== undefined && <a href={errorHref(code)}>How to solve it</a>}
      <Badge word={`${status}`} tone="bad" />
    </>
  )
}

/** What to do about it, where the answer does not say so. */
function Advice({ problem }: { problem: Problem }) {
  const sandboxKey = apiDocument.value?.info['x-sandbox-key']
  const advice = adviceOf(problem)
  // The field of a key that was typed says it itself.
  if (problem.status === 401 && isKeyTyped.value) return null
  if (problem.status === 401 && sandboxKey !== undefined)
    return (
      <p class="answer-advice">
        The key of this sandbox is <code>{sandboxKey}</code>.
      </p>
    )
  return advice === undefined ? null : <p class="answer-advice">{advice}</p>
}

/** How the public SDK asks the same, where it does. */
export function sdkTabs(operation: DocumentedOperation, values: Values, body?: string): Tab[] {
  const { 'x-sdk-call': call, parameters = [] } = operation
  if (call === undefined) return []
  const chains = parameters.find(({ name }) => name === 'chain' || name === 'chains')
  const hexIdOf = (chain: string) => (chains && chainPairs(chains).find(({ name }) => name === chain)?.hexId) ?? chain
  const request = { call, parameters, values, body, origin: location.origin, hexIdOf, key: snippetKey.value }
  return [codeTab('sdk', 'SDK', { text: sdkText(request), language: 'typescript' })]
}

/** JSON as people write it; a text that is none as it stands. */
function laidOut(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

/** What an address asks for; one that names no chain means the API's own default. */
function linkedValues({ parameters = [] }: DocumentedOperation, query: URLSearchParams): Values | undefined {
  if (query.size === 0) return undefined
  const takesChain = parameters.some(({ name }) => name === 'chain')
  const given = { ...(takesChain ? { chain: 'eth' } : {}), ...Object.fromEntries(query) }
  // Forms have the names of chains, and many a command that is pasted their ids.
  const named = parameters.flatMap(parameter => {
    const { name: called } = parameter
    if (!(called in given && called.startsWith('chain'))) return []
    const nameOf = (id: string) => chainPairs(parameter).find(({ hexId }) => hexId === id.toLowerCase())?.name ?? id
    return [[called, (given as Values)[called]!.split(',').map(nameOf).join()]]
  })
  return { ...given, ...Object.fromEntries(named) }
}

function isSuccess(status: string): boolean {
  return status.startsWith('2')
}

const firstLimit = '10'

/** Chains and networks begin with those of the examples, or with what is configured here, which the form knows. */
export function firstValues({ operation }: Entry, live: NonNullable<typeof liveExamples.value>): Values {
  const isPlaceKnown = (place: 'chain' | 'network') =>
    live[place] !== undefined && (place === 'network' || canAnswer(live[place], operation.path))
  const wanted = (operation.parameters ?? []).filter(parameter =>
    parameter.name === 'chain' || parameter.name === 'network'
      ? isPlaceKnown(parameter.name)
      : isFilledAtFirst(operation, parameter),
  )
  const given = wanted
    .map(parameter => [parameter.name, exampleOf(operation, parameter, live)] as const)
    .filter(([, value]) => value !== '')
  // A first look needs no whole page.
  const hasLimit = operation.parameters?.some(({ name }) => name === 'limit') === true
  return { ...Object.fromEntries(given), ...(hasLimit ? { limit: firstLimit } : {}) }
}
