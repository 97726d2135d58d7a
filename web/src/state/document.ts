// The OpenAPI document of the running service: what its operations take. Loaded once, when a form is first needed.
import { signal } from '@preact/signals'

export type Parameter = {
  name: string
  in: 'path' | 'query'
  required: boolean
  description: string
  example: unknown
  deprecated?: boolean
  schema: {
    type?: string
    enum?: string[]
    default?: unknown
    minimum?: number
    /** For chains: each name, followed by its hex id. */
    examples?: string[]
    items?: { examples?: string[] }
  }
}

export type ApiDocument = { paths: Record<string, { get?: { parameters?: Parameter[] } }> }

export const apiDocument = signal<ApiDocument | undefined>(undefined)
let asked = false

export function loadDocument(): void {
  if (asked) return
  asked = true
  fetch('/openapi.json')
    .then(async response => {
      apiDocument.value = (await response.json()) as ApiDocument
    })
    .catch(() => {
      asked = false
    })
}

export function parametersOf(path: string): readonly Parameter[] | undefined {
  return apiDocument.value?.paths[path]?.get?.parameters
}

/** Names and hex ids by turns become pairs. */
export function chainPairs({ schema }: Parameter): { name: string; hexId: string }[] {
  const texts = schema.examples ?? schema.items?.examples ?? []
  return texts.flatMap((name, at) => (at % 2 === 0 ? [{ name, hexId: texts[at + 1] ?? '' }] : []))
}
