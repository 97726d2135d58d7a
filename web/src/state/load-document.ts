// Loads the OpenAPI document of the running service once, when a form is first needed, and says why where it cannot.
import { signal } from '@preact/signals'
import { type ApiDocument, apiDocument } from './document.ts'
import { type Problem, problemOf, unreachable } from './service.ts'

/** Why there is none. */
export const documentProblem = signal<Problem | undefined>(undefined)
let asked = false

export function loadDocument(): void {
  if (asked) return
  asked = true
  documentProblem.value = undefined
  fetch('/openapi.json')
    .then(async response => {
      if (response.ok) apiDocument.value = (await response.json()) as ApiDocument
      else fail(problemOf(await response.json().catch(() => undefined), response))
    })
    .catch(() => fail(unreachable))
}

function fail(problem: Problem): void {
  asked = false
  documentProblem.value = problem
}
