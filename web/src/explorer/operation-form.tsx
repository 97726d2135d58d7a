// A form made from the parameters of an operation. What the service refuses stands beside the field that it is about.
import { useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Prose } from '../parts/prose.tsx'
import { chainPairs, type Parameter } from '../state/document.ts'
import { status } from '../state/live.ts'
import type { Problem } from '../state/service.ts'
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
}

/** Paging has buttons of its own. */
const leftOut = new Set(['cursor'])

export function OperationForm({ id = 'field', parameters, values, problem, onAsk, all = false, footer }: Props) {
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
  const submit = (event: Event) => {
    event.preventDefault()
    onAsk(given)
  }
  const filled = Object.entries(draft.value).filter(
    ([name, value]) => value.trim() !== '' && (all || !leftOut.has(name)),
  )
  const given = Object.fromEntries(filled.map(([name, value]) => [name, value.trim()]))
  const rest = shown.filter(parameter => !isMain(parameter))
  const fieldOf = (parameter: Parameter) => (
    <Field
      key={parameter.name}
      id={`${id}-${parameter.name}`}
      parameter={parameter}
      value={draft.value[parameter.name] ?? ''}
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
          <summary>More: {rest.map(({ name }) => name.replaceAll('_', ' ')).join(', ')}</summary>
          <div class="operation-fields">{rest.map(fieldOf)}</div>
        </details>
      )}
      {footer?.(given)}
      <div class="form-end">
        <button type="submit" class="primary">
          Ask
        </button>
      </div>
    </form>
  )
}

/** What nearly every question has; the rest is folded away until it is wanted. */
function isMain({ name, required }: Parameter): boolean {
  return required || name === 'chain' || name === 'chains' || name === 'limit'
}

type FieldProps = {
  id: string
  parameter: Parameter
  value: string
  refusal: string | undefined
  onChange: (value: string) => void
}

function Field({ id, parameter, value, refusal, onChange }: FieldProps) {
  const { name, description, required } = parameter
  const described = refusal === undefined ? `${id}-help` : `${id}-refusal ${id}-help`
  const wide = name === 'address' || parameter.schema.type === 'array'
  return (
    <div class={wide ? 'field wide' : 'field'}>
      {parameter.schema.type === 'array' ? (
        <ChainsField {...{ parameter, id, value, described, onChange }} />
      ) : (
        <>
          <label for={id}>
            {name.replaceAll('_', ' ')}
            {required && <span class="soft"> needed</span>}
          </label>
          <Control {...{ parameter, id, value, described, onChange }} invalid={refusal !== undefined} />
        </>
      )}
      {refusal !== undefined && (
        <strong class="refusal" id={`${id}-refusal`} role="alert">
          {refusal}
        </strong>
      )}
      <small id={`${id}-help`}>
        <Prose text={description} />
      </small>
    </div>
  )
}

type ControlProps = Omit<FieldProps, 'refusal'> & { described: string }

function Control({ parameter, id, value, described, onChange, invalid }: ControlProps & { invalid: boolean }) {
  const { name, schema, required, example } = parameter
  const shared = { id, name, 'aria-describedby': described, 'aria-invalid': invalid }
  const indexed = useSignal<readonly string[]>([])
  useSignalEffect(() => {
    indexed.value = Object.keys(status.value?.chains ?? {})
  })
  const choices =
    schema.enum ??
    (name === 'chain' ? [...new Set([...indexed.value, ...chainPairs(parameter).map(pair => pair.name)])] : undefined)
  if (choices !== undefined) {
    return (
      <select {...shared} value={value} onChange={event => onChange(event.currentTarget.value)} required={required}>
        {(!required || value === '') && <option value="">{defaultText(parameter)}</option>}
        {choices.map(choice => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    )
  }
  return (
    <input
      {...shared}
      type="text"
      value={value}
      required={required}
      inputMode={schema.type === 'integer' ? 'numeric' : 'text'}
      placeholder={required ? '' : defaultText(parameter) || String(example ?? '')}
      class={name === 'address' ? 'mono' : undefined}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      onInput={event => onChange(event.currentTarget.value)}
    />
  )
}

function ChainsField({ parameter, id, value, described, onChange }: ControlProps) {
  const chosen = new Set(value.split(',').filter(Boolean))
  const toggle = (name: string, on: boolean) => {
    if (on) chosen.add(name)
    else chosen.delete(name)
    onChange([...chosen].join(','))
  }
  return (
    <fieldset id={id} class="pills" aria-describedby={described}>
      <legend>{parameter.name}</legend>
      {chainPairs(parameter).map(({ name }) => (
        <label key={name} class="pill">
          <input
            type="checkbox"
            name={parameter.name}
            checked={chosen.has(name)}
            onChange={event => toggle(name, event.currentTarget.checked)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}

function defaultText({ schema, name }: Parameter): string {
  if (schema.default !== undefined) return String(schema.default)
  return name === 'chain' ? 'eth' : ''
}
