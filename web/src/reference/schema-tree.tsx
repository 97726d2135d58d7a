// The shape of an answer or a body as a tree: each field with its type and meaning. Deep parts are folded.
import { Fragment } from 'preact'
import { Prose } from '../parts/prose.tsx'
import { type ApiDocument, resolved, type Schema } from '../state/document.ts'

/** Schemas may contain themselves. */
const depthMax = 6

/** `isBody`: what a client sends, where a field may have to be there. */
export function SchemaTree({ schema, shown, like, isBody = false }: TreeProps) {
  return <Fields {...{ schema, shown, like, isBody }} depth={0} />
}

type TreeProps = Pick<Props, 'schema' | 'shown'> & { like?: unknown; isBody?: boolean }

/** As the newest version answers, which is the one that is shown. */
function formOf(shown: ApiDocument, given: Schema): Schema {
  const schema = resolved(shown, given)
  const described = { ...schema, ...(given.description === undefined ? {} : { description: given.description }) }
  const live = given['x-live'] ?? schema['x-live']
  if (live === undefined || live === null) return described
  const { description } = described
  return { ...(description === undefined ? {} : { description }), ...live }
}

/** `like`: an example, in the order of whose fields they are listed. */
type Props = { schema: Schema; shown: ApiDocument; like: unknown; depth: number; isBody: boolean }

function Fields({ schema, shown, like, depth, isBody }: Props) {
  const variants = variantsOf(schema, shown)
  if (variants.length > 1) {
    return variants.map((variant, at) => (
      <Fragment key={at}>
        <p class="schema-variant">
          <b>{at === 0 ? 'Either' : 'or'}</b> <span class="soft">{variantName(variant)}</span>
        </p>
        <Fields schema={variant} {...{ shown, like, depth, isBody }} />
      </Fragment>
    ))
  }
  const object = objectIn(schema, shown)
  if (object?.properties === undefined) return <p class="soft">{typeText(schema, shown)}</p>
  const required = new Set(object.required ?? [])
  return (
    <ul class="schema">
      {inOrderOf(firstIn(like), object.properties)
        .filter(([, field]) => field['x-live'] !== null)
        .map(([name, field]) => (
          <Field
            key={name}
            {...{ name, field, shown, depth, isBody }}
            like={firstIn(like)[name]}
            isRequired={required.has(name)}
          />
        ))}
    </ul>
  )
}

/** Of a list the first element. */
function firstIn(like: unknown): Record<string, unknown> {
  const one = Array.isArray(like) ? like.find(each => each !== null) : like
  return typeof one === 'object' && one !== null ? (one as Record<string, unknown>) : {}
}

/** What the example does not have stays behind what stands before it. */
function inOrderOf(like: Record<string, unknown>, fields: Record<string, Schema>): [string, Schema][] {
  const names = Object.keys(like)
  let last = -1
  const placed = Object.entries(fields).map((entry, at) => {
    const place = names.indexOf(entry[0])
    if (place >= 0) last = place
    return { entry, place: place < 0 ? last + 0.5 : place, at }
  })
  return placed.sort((one, other) => one.place - other.place || one.at - other.at).map(({ entry }) => entry)
}

type FieldProps = Omit<Props, 'schema'> & { name: string; field: Schema; isRequired: boolean }

function Field({ name, field, like, isRequired, shown, depth, isBody }: FieldProps) {
  const description = formOf(shown, field).description
  const head = (
    <>
      <code class="schema-name">{name}</code> <span class="schema-type">{typeText(field, shown)}</span>
      {isBody && <span class="schema-type">{boundsText(field, shown)}</span>}
      {!isRequired && <span class="soft"> optional</span>}
      {isRequired && isBody && <span class="required"> required</span>}
    </>
  )
  const isDeep = depth < depthMax && (objectIn(field, shown) !== undefined || variantsOf(field, shown).length > 1)
  return (
    <li>
      {isDeep ? (
        <details open={depth === 0}>
          <summary>{head}</summary>
          {description !== undefined && (
            <p class="soft">
              <Prose text={description} />
            </p>
          )}
          <Fields
            schema={itemsOf(field, shown)}
            {...{ shown, isBody }}
            like={inMap(field, shown) ? Object.values(firstIn(like))[0] : like}
            depth={depth + 1}
          />
        </details>
      ) : (
        <>
          {head}
          {description !== undefined && (
            <p class="soft">
              <Prose text={description} />
            </p>
          )}
        </>
      )}
    </li>
  )
}

function inMap(field: Schema, shown: ApiDocument): boolean {
  return valuesIn(present(formOf(shown, field), shown)) !== undefined
}

/** What each field of a map is, where that is said. */
function valuesIn({ additionalProperties }: Schema): Schema | undefined {
  return typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
    ? additionalProperties
    : undefined
}

/** What a list or a map has in it; of something that is or is not there, what it is. */
function itemsOf(given: Schema, shown: ApiDocument): Schema {
  const schema = present(formOf(shown, given), shown)
  const each = schema.items ?? valuesIn(schema)
  return each === undefined ? schema : itemsOf(each, shown)
}

/** Without null, where one other kind is left. */
function present(schema: Schema, shown: ApiDocument): Schema {
  const others = (schema.anyOf ?? []).map(each => formOf(shown, each)).filter(({ type }) => type !== 'null')
  return others.length === 1 ? others[0]! : schema
}

function variantsOf(given: Schema, shown: ApiDocument): Schema[] {
  const { oneOf = [] } = itemsOf(given, shown)
  return oneOf.map(each => formOf(shown, each))
}

function variantName({ properties }: Schema): string {
  const type = properties?.type?.const
  return type === undefined ? '' : `type ${type}`
}

function objectIn(given: Schema, shown: ApiDocument): Schema | undefined {
  const schema = itemsOf(given, shown)
  return schema.properties === undefined ? undefined : schema
}

function typeText(given: Schema, shown: ApiDocument): string {
  const schema = formOf(shown, given)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  const kinds = schema.anyOf ?? schema.oneOf
  if (kinds !== undefined) return [...new Set(kinds.map(each => typeText(each, shown)))].join(' | ')
  if (schema.items !== undefined) return `list of ${typeText(schema.items, shown)}`
  const value = valuesIn(schema)
  if (value !== undefined) return `map of ${typeText(value, shown)}`
  if (Array.isArray(schema.type)) return schema.type.join(' | ')
  return schema.type ?? (schema.properties === undefined ? 'any' : 'object')
}

/** Of a number that may be null too. */
function boundsText(given: Schema, shown: ApiDocument): string {
  const { minimum, default: usual } = { ...formOf(shown, given), ...present(formOf(shown, given), shown) }
  const least = minimum === undefined || minimum < -1 ? undefined : `≥ ${minimum}`
  return [least, usual === undefined ? undefined : `· default ${usual}`].map(part => part && ` ${part}`).join('')
}
