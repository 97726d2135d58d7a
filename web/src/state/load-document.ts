// Loads the OpenAPI document of the running service once, when a form is first needed, and says why where it cannot.
import { signal } from '@preact/signals'
import { type ApiDocument, apiDocument } from './document.ts'
import { type Problem, problemOf, unreachable } from './service.ts'
import { typedKey } from './session.ts'

/** Why there is none. */
export const documentProblem = signal<Problem | undefined>(undefined)
let asked = false

export function loadDocument(): void {
  if (asked) return
  asked = true
  documentProblem.value = undefined
  fetch('/openapi.json')
    .then(async response => {
      if (response.ok) {
        const document = (await response.json()) as ApiDocument
        // What a link asks for is sent as soon as the document is there.
        typedKey.value ||= document.info['x-sandbox-key'] ?? ''
        apiDocument.value = document
      } else fail(problemOf(await response.json().catch(() => undefined), response))
    })
    .catch(() => fail(unreachable))
}

function fail(problem: Problem): void {
  asked = false
  documentProblem.value = problem
}
