// The OpenAPI document of the running service: what its operations take. Nothing here loads it.
import { signal } from '@preact/signals'

export type Parameter = {
  name: string
  /** `header`: the form of the answer, which the reference offers beside the parameters. */
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  example: unknown
  deprecated?: boolean
  schema: {
    type?: string
    enum?: string[]
    default?: unknown
    minimum?: number
    maximum?: number
    /** A higher number counts as this one. */
    'x-taken-up-to'?: number
    pattern?: string
    /** For chains: each name, followed by its hex id. */
    examples?: string[]
    items?: { examples?: string[] }
  }
}

type Reference = { $ref?: string }

export type Schema = Reference & {
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  /** Of an object whose fields have any names. */
  additionalProperties?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  minimum?: number
  /** What the newest version answers instead; null where it has no such field. */
  'x-live'?: Schema | null
}

export type DocumentedAnswer = Reference & {
  description: string
  headers?: Record<string, Reference & { description: string }>
  content?: Record<string, { schema: Schema; examples?: Record<string, { summary?: string; value: unknown }> }>
}

type OperationFacts = {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema; examples: Record<string, { value: unknown }> } } }
  responses: Record<string, DocumentedAnswer>
  'x-error-codes'?: string[]
  /** By code, where it says them in its own words. */
  'x-error-examples'?: Readonly<Record<string, unknown>>
  /** How the public SDK asks for it, where it does. */
  'x-sdk-call'?: string
  /** That a key needs; `any`: every key may ask. Absent: the summary says it. */
  'x-scope'?: string
  /** Empty where no key is needed. */
  security?: readonly object[]
}

export type DocumentedOperation = OperationFacts & { method: string; path: string }

export type ApiDocument = {
  info: { description: string; 'x-sandbox-key'?: string }
  paths: Record<string, Record<string, OperationFacts>>
  /** Operations of the hosted service that have no route here, each with the reason. */
  'x-not-served'?: NotServed
}

/** By id: the reason, what to ask instead, and each method and path. */
export type NotServed = Readonly<Record<string, { why: string; instead?: string; at: readonly string[] }>>

export const apiDocument = signal<ApiDocument | undefined>(undefined)

/** In the order of the document. */
export function operationsOf({ paths }: ApiDocument): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, facts]) => ({ ...facts, method: method.toUpperCase(), path })),
  )
}

/** Follows a reference into the shared parts of the document. */
export function resolved<Part extends Reference>(document: ApiDocument, part: Part): Part {
  if (part.$ref === undefined) return part
  const names = part.$ref.slice('#/'.length).split('/')
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as Part
}

/** Known by its name or its id: another one is configured with an id. */
export function isChainKnown(document: ApiDocument, chain: string): boolean {
  const parameters = operationsOf(document).flatMap(({ parameters = [] }) => parameters)
  return parameters.some(parameter => chainPairs(parameter).some(pair => pair.name === chain || pair.hexId === chain))
}

/** Names and hex ids by turns become pairs. */
export function chainPairs({ schema }: Parameter): { name: string; hexId: string }[] {
  const texts = schema.examples ?? schema.items?.examples ?? []
  return texts.flatMap((name, at) => (at % 2 === 0 ? [{ name, hexId: texts[at + 1] ?? '' }] : []))
}

/** As the newest version answers, which is the one that is shown. */
export function exampleIn(content: { examples?: Record<string, { value: unknown }> } | undefined): unknown {
  const { live, ...others } = content?.examples ?? {}
  return (live ?? Object.values(others)[0])?.value
}
