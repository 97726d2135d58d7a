// A form made from the parameters of an operation. What the service refuses stands beside the field that it is about.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Parameter } from '../state/document.ts'
import type { Problem } from '../state/service.ts'
import { defaultOf } from './configured.ts'
import { Field } from './field.tsx'
import type { Values } from './question.ts'

type Props = {
  /** Begins the ids of the fields, where a page has several forms. */
  id?: string
  parameters: readonly Parameter[]
  values: Values
  problem: Problem | undefined
  onAsk: (values: Values) => void
  /** Shows deprecated parameters and the cursor too. */
  all?: boolean
  /** Stands below the fields and knows what is in them. */
  footer?: (given: Values) => ComponentChildren
  /** Hears what is in the fields, now and whenever it changes. */
  onDraft?: (given: Values) => void
}

/** Paging has buttons of its own. */
const leftOut = new Set(['cursor'])

export function OperationForm({ id = 'field', parameters, values, problem, onAsk, all, footer, onDraft }: Props) {
  const draft = useSignal<Values>(values)
  const form = useRef<HTMLFormElement>(null)
  const shown = parameters.filter(({ name, deprecated }) => all || !(leftOut.has(name) || deprecated))
  const asked = JSON.stringify(values)
  // What was asked is known by its text.
  useEffect(() => {
    draft.value = values
  }, [asked])
  useEffect(() => {
    if (problem?.parameter === undefined) return
    form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(problem.parameter)}"]`)?.focus()
  }, [problem])
  const heldBy = (parameter: Parameter) => draft.value[parameter.name] ?? defaultOf(parameter) ?? ''
  const given = Object.fromEntries(
    parameters
      .filter(({ name }) => all || !leftOut.has(name))
      .map(parameter => [parameter.name, heldBy(parameter).trim()])
      .filter(([, value]) => value !== ''),
  )
  const told = JSON.stringify(given)
  useEffect(() => onDraft?.(given), [told])
  const submit = (event: Event) => {
    event.preventDefault()
    onAsk(given)
  }
  const rest = shown.filter(parameter => !isMain(parameter))
  const fieldOf = (parameter: Parameter) => (
    <Field
      key={parameter.name}
      id={`${id}-${parameter.name}`}
      parameter={parameter}
      value={heldBy(parameter)}
      help={all ? parameter.description : helpOf(parameter)}
      refusal={problem?.parameter === parameter.name ? problem.message : undefined}
      onChange={value => {
        draft.value = { ...draft.value, [parameter.name]: value }
      }}
    />
  )
  return (
    <form ref={form} class="operation" onSubmit={submit}>
      {shown.filter(isMain).map(fieldOf)}
      {rest.length > 0 && (
        <details class="more" open={rest.some(({ name }) => values[name] !== undefined || problem?.parameter === name)}>
          <summary>
            {rest.length} more {rest.length === 1 ? 'parameter' : 'parameters'}
            <span class="soft"> {rest.map(({ name }) => name.replaceAll('_', ' ')).join(', ')}</span>
          </summary>
          <div class="operation-fields">{rest.map(fieldOf)}</div>
        </details>
      )}
      {footer?.(given)}
      <div class="form-end">
        <button type="submit" class="primary">
          Send
        </button>
      </div>
    </form>
  )
}

/** The reference says it all. A form needs no default where it always sends a value, nor how too high ones are lowered. */
function helpOf(parameter: Parameter): string {
  const text = parameter.description.replace(/Values above (\d+) become .*/, 'At most $1.')
  return defaultOf(parameter) === undefined ? text : text.replace(/ Defaults to [^.]+\./, '')
}

/** What nearly every question has; the rest is folded away until it is wanted. */
function isMain({ name, required }: Parameter): boolean {
  return required || name === 'chain' || name === 'chains' || name === 'limit'
}
