// The example of an answer before one was asked for: that of this service to what the form holds, where that is known
// and cheap, else the document's own.
import { targetOf, type Values } from '../explorer/request-text.ts'
import { CodeView } from '../parts/code-view.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Panel } from '../parts/panel.tsx'
import { type ApiDocument, type DocumentedAnswer, type DocumentedOperation, exampleIn } from '../state/document.ts'
import { useAnswer } from '../state/use-answer.ts'
import { isJsonType, receive } from './receive.ts'

type Props = {
  operation: DocumentedOperation
  status: string
  answer: DocumentedAnswer
  shown: ApiDocument
  /** What the form begins with, where it is of this service. */
  values: Values | undefined
  /** As the form begins with it, whatever is typed meanwhile. */
  body: string | undefined
}

export function Example({ operation, status, answer, shown, values, body }: Props) {
  const [type, content] = Object.entries(answer.content ?? {})[0] ?? []
  const documented = exampleIn(content)
  const isAsked = values !== undefined && isJsonType(type ?? '') && isCheap(operation, shown)
  const target = isAsked ? exampleTarget(operation, values) : undefined
  const state = useAnswer(target, signal => receive(operation.method, { target: target!, body }, signal))
  const { answered } = state.value
  if (type === undefined || (documented === undefined && answered === undefined)) return null
  const value = answered?.data.json ?? documented
  // Until it is known, the other one would show for a moment.
  if (target !== undefined && state.value.loading) return null
  const origin = answered !== undefined ? 'of this service' : originOf(operation, values !== undefined)
  const note = [`${status} ${type}`, origin].filter(Boolean).join(' · ')
  return (
    <Panel id={`${operation.operationId}-example`} title="Example answer" note={note} flush>
      {typeof value === 'string' ? (
        <CodeView text={value} what="the example" />
      ) : (
        <JsonView value={value} what="the example" />
      )}
    </Panel>
  )
}

/** What nothing was asked for is of no chain, and neither is what concerns the service itself. */
function originOf({ parameters, requestBody, tags }: DocumentedOperation, isKnown: boolean): string | undefined {
  if (!isKnown || (parameters ?? requestBody) === undefined) return undefined
  return tags.includes('Operations') ? 'from the docs' : 'of mainnet, from the docs'
}

/** To look at a page must not spend calls to nodes, but for those of a sandbox. */
function isCheap({ method, path, 'x-error-codes': codes = [] }: DocumentedOperation, { info }: ApiDocument): boolean {
  // Operations of the API read, even those that take a body.
  const isRead = method === 'GET' || path.startsWith('/api/')
  return isRead && (info['x-sandbox-key'] !== undefined || !codes.includes('upstream_failed'))
}

/** One row is enough. Undefined while a field that is required is empty. */
function exampleTarget({ path, parameters = [] }: DocumentedOperation, values: Values): string | undefined {
  if (parameters.some(({ name, required }) => required && !values[name])) return undefined
  return targetOf(path, parameters, { ...values, limit: '1' })
}
