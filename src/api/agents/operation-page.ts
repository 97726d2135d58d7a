// One operation as Markdown, for agents that read text: what it is, takes and answers, from its OpenAPI document.
// Nothing is written here by hand but the headings.
import type { Json } from '../openapi-parts.ts'
import type { OperationKind } from './documents.ts'
import { usualOrigin } from './served-origin.ts'

type Schema = Json & {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  description?: string
  'x-live'?: Schema | null
}
type Described = { $ref?: string; description?: string }
type Body = { schema: Schema; examples?: Record<string, { value: unknown; summary?: string }> }
type Response = {
  $ref?: string
  description: string
  headers?: Record<string, Described>
  content?: Record<string, Body>
}
type Parameter = { name: string; in: string; required: boolean; description: string; example?: unknown }
type Operation = {
  operationId: string
  summary: string
  description: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Body> }
  responses: Record<string, Response>
  'x-error-codes'?: string[]
}

/** Schemas may contain themselves. */
const depthMax = 4

/** Where it is served. */
export function operationPagePath(id: string, isSolana: boolean): string {
  return `/reference/${isSolana ? 'solana/' : ''}${id}.md`
}

/** `document`: of the kind. Undefined where it does not have the operation. */
export function operationPage(document: Json, kind: OperationKind, id: string): string | undefined {
  for (const [path, methods] of Object.entries(document.paths as Record<string, Record<string, Operation>>))
    for (const [method, operation] of Object.entries(methods))
      if (operation.operationId === id)
        return pageOf(document, operation, { method: method.toUpperCase(), path: kind.base.replace(/\/$/, '') + path })
  return undefined
}

type Place = { method: string; path: string }

function pageOf(document: Json, operation: Operation, { method, path }: Place): string {
  const { operationId, description, parameters = [], requestBody, responses } = operation
  const resolve = <Each extends { $ref?: string }>(each: Each): Each => resolved(document, each)
  const success = resolve(Object.entries(responses).find(([status]) => status.startsWith('2'))![1])
  const json = success.content?.['application/json']
  const body = requestBody?.content['application/json']
  const failures = Object.entries(responses).filter(([status]) => !status.startsWith('2'))
  const codes = new Set(operation['x-error-codes'])
  return [
    `# ${operationId}`,
    description,
    `\`${method} ${usualOrigin}${path}\``,
    'Send your key in the header `X-API-Key`.',
    `\`\`\`sh\n${curlOf(operation, { method, path })}\n\`\`\``,
    parameters.length > 0 &&
      `## Parameters\n\n${tableOf(
        ['name', 'in', 'required', 'what it is', 'example'],
        parameters.map(each => [
          ...[`\`${each.name}\``, each.in, each.required ? 'yes' : 'no', each.description],
          `\`${String(each.example ?? '')}\``,
        ]),
      )}`,
    body && `## Body\n\n${fieldsOf(body.schema, resolve, 0).join('\n')}`,
    json && `## Answer\n\n${success.description}\n\n${fieldsOf(json.schema, resolve, 0).join('\n')}`,
    json?.examples && `\`\`\`json\n${JSON.stringify(Object.values(json.examples)[0]!.value, null, 2)}\n\`\`\``,
    `## Headers of the answer\n\n${tableOf(
      ['header', 'what it says'],
      Object.entries(success.headers ?? {}).map(([name, each]) => [`\`${name}\``, resolve(each).description ?? '']),
    )}`,
    `## Failures\n\n${tableOf(
      ['status', 'code', 'what it means'],
      failures.flatMap(([status, response]) =>
        Object.entries(resolve(response).content?.['application/json']?.examples ?? {})
          .filter(([code]) => codes.has(code))
          .map(([code, { summary = '' }]) => [status, `\`${code}\``, summary]),
      ),
    )}`,
  ]
    .filter(Boolean)
    .join('\n\n')
    .concat('\n')
}

function curlOf({ parameters = [], requestBody }: Operation, { method, path }: Place): string {
  const example = ({ example: value }: Parameter) => encodeURIComponent(String(value))
  const filled = path.replaceAll(/{(\w+)}/g, (_, name) => example(parameters.find(each => each.name === name)!))
  const shown = parameters.filter(
    ({ in: place, name, required }) => place === 'query' && (required || name === 'chain'),
  )
  const query = shown.map(each => `${each.name}=${example(each)}`).join('&')
  const [body] = Object.values(requestBody?.content['application/json']?.examples ?? {})
  return [
    `curl -s -H 'X-API-Key: YOUR_KEY'${method === 'GET' ? '' : ` -X ${method}`}`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json' -d '${JSON.stringify(body.value)}'`]),
    `'${usualOrigin}${filled}${query === '' ? '' : `?${query}`}'`,
  ].join(' \\\n  ')
}

type Resolve = <Each extends { $ref?: string }>(each: Each) => Each

function fieldsOf(given: Schema, resolve: Resolve, depth: number): string[] {
  const { properties } = innermost(given, resolve)
  return Object.entries(properties ?? {}).flatMap(([name, all]) => {
    if (all['x-live'] === null) return []
    const field = liveForm(all)
    const description = field.description ?? resolve(field).description ?? ''
    const line = `${'  '.repeat(depth)}- \`${name}\` (${typeOf(field, resolve)}): ${description}`
    return [line, ...(depth < depthMax ? fieldsOf(field, resolve, depth + 1) : [])]
  })
}

/** As the newest version answers, which the page is of. */
function liveForm(schema: Schema): Schema {
  const { 'x-live': live, description } = schema
  return live == null ? schema : { ...(description === undefined ? {} : { description }), ...live }
}

/** What a list has in it; of something that is or is not there, what it is. */
function innermost(given: Schema, resolve: Resolve): Schema {
  const schema = resolve(given)
  const [other] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null')
  const inner = schema.items ?? (schema.anyOf?.length === 2 ? other : undefined)
  return inner === undefined ? schema : innermost(inner, resolve)
}

function typeOf(given: Schema, resolve: Resolve): string {
  const schema = liveForm(resolve(given))
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(value => JSON.stringify(value)).join(' or ')
  const kinds = schema.anyOf ?? schema.oneOf
  if (kinds !== undefined) return [...new Set(kinds.map(each => typeOf(each, resolve)))].join(' or ')
  if (schema.items !== undefined) return `list of ${typeOf(schema.items, resolve)}`
  return [schema.type ?? 'object'].flat().join(' or ')
}

function resolved<Each extends { $ref?: string }>(document: Json, given: Each): Each {
  if (given.$ref === undefined) return given
  let found: unknown = document
  for (const name of given.$ref.slice(2).split('/')) found = (found as Json)[name]
  return found as Each
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
