// The form of an answer, as a field beside the parameters of an operation whose list can also be sent whole. Pure.
import type { Values } from '../explorer/request-text.ts'
import type { DocumentedOperation, Parameter } from '../state/document.ts'

const name = 'Accept'
const page = 'application/json'
/** A whole list has no pages. */
const ofPages = ['limit', 'cursor']

/** The parameters with the choice of a form, where there is one. */
export function withAnswerForm({ parameters = [], responses }: DocumentedOperation): Parameter[] {
  const forms = Object.keys(responses[200]?.content ?? {})
  if (!forms.includes('text/csv')) return parameters
  const others = forms.filter(form => form !== page)
  const field: Parameter = {
    ...{ name, in: 'header', required: false, example: page, schema: { type: 'string', enum: others, default: page } },
    description: 'A page as JSON, or the whole list as CSV or NDJSON, without `limit` and `cursor`.',
  }
  return [...parameters, field]
}

/** Undefined where a page is asked for. */
export function answerFormOf(values: Values): string | undefined {
  const form = values[name]
  return form === undefined || form === '' || form === page ? undefined : form
}

/** What may be sent together: the fields of pages stay in the form, and are left out of the request. */
export function sentValues(values: Values): Values {
  if (answerFormOf(values) === undefined) return values
  return Object.fromEntries(Object.entries(values).filter(([each]) => !ofPages.includes(each)))
}
