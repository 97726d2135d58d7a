// One field of an operation's form, with its help and its refusal. Chains that this service is not configured for are
// offered apart from those that it is.
import { formats } from '../downloads/row-counter.ts'
import { Prose } from '../parts/prose.tsx'
import { chainPairs, type Parameter } from '../state/document.ts'
import { type Offered, offeredChains, offeredNetworks } from './configured.ts'

type Props = {
  id: string
  parameter: Parameter
  /** Of the operation. */
  path: string
  value: string
  refusal: string | undefined
  /** Said after the refusal. */
  accepted?: string | undefined
  onChange: (value: string) => void
}

export function Field({ id, parameter, path, value, refusal, accepted, onChange }: Props) {
  const { name, required } = parameter
  const described = refusal === undefined ? `${id}-help` : `${id}-refusal ${id}-help`
  const isList = parameter.schema.type === 'array'
  const wide = name === 'address' || isList
  return (
    <div class={wide ? 'field wide' : 'field'}>
      {isList && name === 'chains' ? (
        <ChainsField {...{ parameter, path, id, value, described, onChange }} />
      ) : (
        <>
          <div class="field-head">
            <label for={id}>
              <code>{name}</code>
              {required && <span class="required"> required</span>}
            </label>
            <span class="field-type">{typeOf(parameter)}</span>
          </div>
          <Control {...{ parameter, path, id, value, described, onChange }} invalid={refusal !== undefined} />
        </>
      )}
      {refusal !== undefined && (
        <strong class="refusal" id={`${id}-refusal`} role="alert">
          {refusal}
          {accepted !== undefined && `. Accepted: ${accepted}.`}
        </strong>
      )}
      <Help id={`${id}-help`} text={parameter.description} />
    </div>
  )
}

/** More lines than these would push the other fields away. */
const helpLengthMax = 130

/** What is long folds after its first sentence. */
function Help({ id, text }: { id: string; text: string }) {
  const [first = ''] = /^.+?\.(?= [A-Z`])/.exec(text) ?? []
  if (text.length <= helpLengthMax || first === '')
    return (
      <small id={id}>
        <Prose text={text} />
      </small>
    )
  return (
    <small id={id}>
      <details>
        <summary>
          <Prose text={first} />
        </summary>
        <Prose text={text.slice(first.length + 1)} />
      </details>
    </small>
  )
}

/** A form of the answer is known by its name. */
function titleOf(choice: string): string {
  return Object.values(formats).find(({ type }) => type === choice)?.title ?? (choice === jsonType ? 'JSON' : choice)
}

const jsonType = 'application/json'

/** With the values that are accepted. */
function typeOf({ required, schema }: Parameter): string {
  const { type, enum: choices, minimum, maximum, 'x-taken-up-to': taken, default: usual } = schema
  // A number that JSON cannot hold exactly is no bound of the operation.
  const highest = taken ?? (maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum)
  const kind = type === 'array' ? 'list, with commas' : (choices?.map(titleOf).join(' | ') ?? type ?? 'string')
  const least = minimum === undefined ? '' : ` ≥ ${minimum}`
  const bounds = minimum === undefined || highest === undefined ? least : ` ${minimum}–${highest}`
  return `${kind}${bounds}${usual === undefined || required ? '' : ` · default ${titleOf(String(usual))}`}`
}

/** Of a field that must be filled, what it begins with; of another one what it means when empty, or an example. */
function hintOf({ name, required, schema, example }: Parameter): string {
  if (name === 'cursor') return 'cursor of the page before'
  if (!required) return String(schema.default ?? (example === undefined || example === '' ? '' : `such as ${example}`))
  return String(example).startsWith('0x') ? '0x…' : ''
}

type ControlProps = Omit<Props, 'refusal'> & { described: string }

function Control(props: ControlProps & { invalid: boolean }) {
  const { parameter, path, id, value, described, onChange, invalid } = props
  const { name, schema, required } = parameter
  const shared = { id, name, 'aria-describedby': described, 'aria-invalid': invalid }
  if (name === 'chain') {
    const offered = offeredChains(parameter, path) ?? all(chainPairs(parameter).map(pair => pair.name))
    return <ChoiceOfPlaces {...{ shared, offered, value, onChange }} />
  }
  if (name === 'network' && schema.enum !== undefined) {
    const offered = offeredNetworks(parameter) ?? all(schema.enum)
    return <ChoiceOfPlaces {...{ shared, offered, value, onChange }} />
  }
  const choices = schema.type === 'boolean' ? ['true', 'false'] : schema.enum
  if (choices !== undefined) {
    return (
      <select {...shared} value={value} onChange={event => onChange(event.currentTarget.value)} required={required}>
        {(!required || value === '') && (
          <option value="">{schema.default === undefined ? '' : `${titleOf(String(schema.default))} (default)`}</option>
        )}
        {choices.map(choice => (
          <option key={choice} value={choice}>
            {titleOf(choice)}
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
      placeholder={hintOf(parameter)}
      class={name === 'address' || schema.type === 'array' ? 'mono' : undefined}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      onInput={event => onChange(event.currentTarget.value)}
    />
  )
}

function all(names: readonly string[]): Offered {
  return { here: names, unable: [], elsewhere: [] }
}

type ChoiceProps = { shared: { id: string; name: string }; offered: Offered } & Pick<Props, 'value' | 'onChange'>

/** Each chain once: those that can answer, then the others, marked. One that cannot is offered where it was named. */
function ChoiceOfPlaces({ shared, offered: { here, unable, elsewhere }, value, onChange }: ChoiceProps) {
  const options = (names: readonly string[]) =>
    names.map(name => (
      <option key={name} value={name}>
        {name}
      </option>
    ))
  const isUnable = unable.includes(value)
  const unknown = value !== '' && ![...here, ...unable, ...elsewhere].includes(value) ? [value] : []
  return (
    <select {...shared} value={value} onChange={event => onChange(event.currentTarget.value)}>
      {elsewhere.length === 0 ? options(here) : <optgroup label="Configured">{options(here)}</optgroup>}
      {isUnable && <optgroup label="Has no ERC-20 tokens">{options([value])}</optgroup>}
      {elsewhere.length > 0 && <optgroup label="Not configured here">{options([...elsewhere, ...unknown])}</optgroup>}
      {elsewhere.length === 0 && options(unknown)}
    </select>
  )
}

function ChainsField({ parameter, path, id, value, described, onChange }: ControlProps) {
  const chosen = new Set(value.split(',').filter(Boolean))
  const toggle = (name: string, on: boolean) => {
    if (on) chosen.add(name)
    else chosen.delete(name)
    onChange([...chosen].join(','))
  }
  const { here, elsewhere } = offeredChains(parameter, path) ?? all(chainPairs(parameter).map(({ name }) => name))
  const pillOf = (name: string) => (
    <label key={name} class="pill">
      <input
        type="checkbox"
        name={parameter.name}
        checked={chosen.has(name)}
        onChange={event => toggle(name, event.currentTarget.checked)}
      />
      {name}
    </label>
  )
  return (
    <>
      <fieldset id={id} class="pills" aria-describedby={described}>
        <legend>
          <code>{parameter.name}</code>
          {parameter.required && <span class="required"> required</span>}
        </legend>
        {here.map(pillOf)}
      </fieldset>
      {elsewhere.length > 0 && (
        <details class="more" open={elsewhere.some(name => chosen.has(name))}>
          <summary>{elsewhere.length} chains that are not configured here</summary>
          <fieldset class="pills">
            <legend class="offstage">Not configured here</legend>
            {elsewhere.map(pillOf)}
          </fieldset>
        </details>
      )}
    </>
  )
}
