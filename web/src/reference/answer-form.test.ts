// Which operations offer another form of their answer, and what is then sent.
import { expect, test } from 'vitest'
import type { DocumentedOperation } from '../state/document.ts'
import { answerFormOf, sentValues, withAnswerForm } from './answer-form.ts'

function operation(...types: string[]): DocumentedOperation {
  const content = Object.fromEntries(types.map(type => [type, { schema: {} }]))
  return { parameters: [], responses: { 200: { content } } } as unknown as DocumentedOperation
}

test('a list that can be sent whole offers each form, and others offer none', () => {
  const forms = ['application/json', 'text/csv', 'application/x-ndjson']
  expect(withAnswerForm(operation(...forms)).map(({ in: place, schema }) => [place, schema.enum])).toEqual([
    ['header', ['text/csv', 'application/x-ndjson']],
  ])
  expect(withAnswerForm(operation('application/json'))).toEqual([])
})

test('a whole list is asked for without its pages', () => {
  const values = { chain: 'eth', limit: '10', cursor: 'next' }
  expect(sentValues(values)).toEqual(values)
  expect(answerFormOf({ Accept: 'application/json' })).toBeUndefined()
  const whole = { ...values, Accept: 'text/csv' }
  expect([answerFormOf(whole), sentValues(whole)]).toEqual(['text/csv', { chain: 'eth', Accept: 'text/csv' }])
})
