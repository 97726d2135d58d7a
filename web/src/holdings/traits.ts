// The traits that the metadata of a token tells, as a page shows them. It is text of strangers: bounded, and never markup. Pure.
import { countText } from '../quantities.ts'

export type Trait = { name: string; value: string }

const traitsMax = 24
const charactersMax = 120

export function traitsOf(metadata: unknown): Trait[] {
  const { attributes } = fieldsOf(metadata)
  const told = Array.isArray(attributes) ? attributes.slice(0, traitsMax) : []
  return told.flatMap(each => traitOf(fieldsOf(each)))
}

export function descriptionOf(metadata: unknown): string | undefined {
  const { description } = fieldsOf(metadata)
  return typeof description === 'string' && description.trim() !== '' ? cut(description.trim(), 400) : undefined
}

/** A trait without a name or with a value that is not plain is left to the JSON. */
function traitOf({ trait_type: name, value, max_value: most, display_type: kind }: Record<string, unknown>): Trait[] {
  if (typeof name !== 'string' || name === '') return []
  if (typeof value === 'number') {
    const text = kind === 'date' ? dateText(value) : countText(value)
    return [{ name: cut(name), value: typeof most === 'number' ? `${text} of ${countText(most)}` : text }]
  }
  if (typeof value !== 'string' && typeof value !== 'boolean') return []
  return [{ name: cut(name), value: cut(String(value)) }]
}

function dateText(seconds: number): string {
  const date = new Date(seconds * 1_000)
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().slice(0, 10)
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function cut(text: string, most = charactersMax): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}
