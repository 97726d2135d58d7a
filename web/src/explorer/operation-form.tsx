// A form made from the parameters of an operation. What the service refuses stands beside the field that it is about.
import { useSignal } from '@preact/signals'
import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Parameter } from '../state/document.ts'
import type { Problem } from '../state/service.ts'
import { defaultOf } from './configured.ts'
import { Field } from './field.tsx'
import type { Values } from './request-text.ts'

type Props = {
  /** Begins the ids of the fields. */
  id: string
  /** Of the operation. */
  path: string
  parameters: readonly Parameter[]
  values: Values
  problem: Problem | undefined
  onAsk: (values: Values) => void
  /** Hears that something is missing, so that nothing was asked. */
  onMissing: () => void
  /** Hears what is in the fields, now and whenever it changes. */
  onDraft: (given: Values) => void
  /** Stands below the fields. */
  children?: ComponentChildren
}

/** The button that sends it stands in the heading above, where it is seen however long the form is. */
export function SendButton({ id, isReady }: { id: string; isReady: boolean }) {
  return (
    <button type="submit" class="primary small" form={formIdOf(id)} disabled={!isReady}>
      Send
    </button>
  )
}

function formIdOf(id: string): string {
  return `${id}-form`
}

/** Many a message says it already. */
function isNews({ accepted }: Problem['errors'][number], { message }: Problem): boolean {
  return !message.includes(accepted)
}

export function OperationForm({ id, path, parameters, values, problem, onAsk, onMissing, onDraft, children }: Props) {
  const draft = useSignal<Values>(values)
  // A refusal is of the text that was sent: it goes when its field changes.
  const mended = useSignal<Problem | undefined>(undefined)
  const refused = problem === mended.value ? undefined : problem
  const missing = useSignal<string | undefined>(undefined)
  const form = useRef<HTMLFormElement>(null)
  const asked = JSON.stringify(values)
  // What was asked is known by its text.
  useEffect(() => {
    draft.value = values
  }, [asked])
  const focusOn = (name: string) => {
    const field = form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`)
    field?.focus({ preventScroll: true })
    // With its refusal, and free of the heading that stays above the form.
    field?.closest('.field')?.scrollIntoView({ block: 'center' })
  }
  useEffect(() => {
    if (problem?.parameter !== undefined) focusOn(problem.parameter)
  }, [problem])
  const heldBy = (parameter: Parameter) => draft.value[parameter.name] ?? defaultOf(parameter, path) ?? ''
  const given = Object.fromEntries(
    parameters.map(parameter => [parameter.name, heldBy(parameter).trim()]).filter(([, value]) => value !== ''),
  )
  const told = JSON.stringify(given)
  useEffect(() => onDraft(given), [told])
  const submit = (event: Event) => {
    event.preventDefault()
    missing.value = parameters.find(({ required, name }) => required && given[name] === undefined)?.name
    if (missing.value === undefined) return onAsk(given)
    mended.value = problem
    onMissing()
    focusOn(missing.value)
  }
  const refusalOf = (name: string): string | undefined => {
    if (missing.value === name) return `${name} is required`
    return refused?.parameter === name ? refused.message : undefined
  }
  const rest = parameters.filter(parameter => !isMain(parameter))
  const fieldOf = (parameter: Parameter) => (
    <Field
      key={parameter.name}
      id={`${id}-${parameter.name}`}
      parameter={parameter}
      path={path}
      value={heldBy(parameter)}
      refusal={refusalOf(parameter.name)}
      accepted={refused?.errors.find(each => each.parameter === parameter.name && isNews(each, refused))?.accepted}
      onChange={value => {
        // A cursor is of the request that it came with.
        draft.value = { ...draft.value, cursor: '', [parameter.name]: value }
        if (problem?.parameter === parameter.name) mended.value = problem
        if (missing.value === parameter.name) missing.value = undefined
      }}
    />
  )
  return (
    <form ref={form} id={formIdOf(id)} class="operation" onSubmit={submit} noValidate>
      {parameters.length === 0 && !children && <p class="soft">It takes no parameters.</p>}
      {parameters.filter(isMain).map(fieldOf)}
      {rest.length > 0 && (
        <details
          class="more"
          open={rest.some(
            ({ name }) => (name !== 'cursor' && values[name] !== undefined) || problem?.parameter === name,
          )}
        >
          <summary>
            {rest.length} rarely used {rest.length === 1 ? 'parameter' : 'parameters'}
            <span class="soft">
              {rest.map(({ name }, at) => (
                <Fragment key={name}>
                  {at === 0 ? ' ' : ', '}
                  <code>{name}</code>
                </Fragment>
              ))}
            </span>
          </summary>
          <div class="operation-fields">{rest.map(fieldOf)}</div>
        </details>
      )}
      {children}
    </form>
  )
}

/** What few questions have is folded away until it is wanted: other spellings, and what is taken without an effect. */
function isMain({ name, required, description, deprecated }: Parameter): boolean {
  if (required) return true
  const isWithout = deprecated === true || description.startsWith('Accepted')
  return !isWithout && !['format', 'normalizeMetadata', 'totalRanges', 'range'].includes(name)
}
