// Which failures the reference shows of an operation, and with which words and bodies.
import { expect, test } from 'vitest'
import type { ApiDocument, DocumentedOperation } from '../state/document.ts'
import { failuresOf } from './failures.ts'

function example(code: string) {
  return { summary: `What ${code} means.`, value: { code } }
}

const document = {
  components: {
    headers: { 'Retry-After': { description: 'Seconds to wait.' } },
    responses: {
      Failure404: {
        description: 'Not Found',
        headers: {
          'X-Request-Id': { description: 'An id.' },
          'Retry-After': { $ref: '#/components/headers/Retry-After' },
        },
        content: {
          'application/json': {
            schema: {},
            examples: { not_found: example('not_found'), chain_not_configured: example('chain_not_configured') },
          },
        },
      },
      Failure400: {
        description: 'Bad Request',
        content: {
          'application/json': {
            schema: {},
            examples: { answer_too_large: example('answer_too_large'), bad_request: example('bad_request') },
          },
        },
      },
    },
  },
} as unknown as ApiDocument

test('an operation shows its own codes alone of a response that others share', () => {
  const operation = {
    responses: {
      200: {
        description: 'A page.',
        content: { 'application/json': { schema: {}, examples: { live: { value: {} } } } },
      },
      404: { $ref: '#/components/responses/Failure404' },
    },
    'x-error-codes': ['chain_not_configured'],
  } as unknown as DocumentedOperation
  expect(failuresOf(operation, document)).toEqual([
    {
      ...{ status: '404', code: 'chain_not_configured', means: 'What chain_not_configured means.' },
      body: { code: 'chain_not_configured' },
      headers: [{ name: 'Retry-After', says: 'Seconds to wait.' }],
      isRare: false,
    },
  ])
  // What few meet comes last.
  const responses = { 400: { $ref: '#/components/responses/Failure400' }, ...operation.responses }
  const codes = ['answer_too_large', 'bad_request', 'not_found']
  const three = failuresOf({ ...operation, responses, 'x-error-codes': codes } as never, document)
  expect(three.map(({ code, isRare }) => [code, isRare])).toEqual([
    ['bad_request', false],
    ['not_found', false],
    ['answer_too_large', true],
  ])
  expect(failuresOf({ ...operation, 'x-error-codes': [] }, document)).toEqual([])
  // Its own words stand before those of the shared response.
  const own = { 'x-error-examples': { chain_not_configured: { message: 'Its own.' } } }
  expect(failuresOf({ ...operation, ...own }, document).map(({ body }) => body)).toEqual([{ message: 'Its own.' }])
})
