// The subjects of the reference, and the guide that each operation leads to.
import { expect, test } from 'vitest'
import type { ApiDocument } from '../state/document.ts'
import { entriesOf } from './entries.ts'
import { guidesOf } from './guides.ts'

const operation = (operationId: string) => ({ operationId, summary: operationId, tags: ['Operations'], responses: {} })

test('changes stand with what clients ask, before what operators do, and lead to their own guide', () => {
  const paths = {
    '/status': { get: operation('getStatus') },
    '/changes': { get: operation('getChanges') },
    '/webhooks': { get: operation('listWebhooks') },
  }
  const entries = entriesOf({ openapi: '3.1.0', paths } as unknown as ApiDocument)
  expect(entries.map(({ id, subject }) => [id, subject])).toEqual([
    ['getChanges', 'Following transfers'],
    ['listWebhooks', 'Following transfers'],
    ['getStatus', 'Service'],
  ])
  expect(entries.slice(0, 2).map(entry => guidesOf(entry)[0]!.href)).toEqual([
    '/docs/guides/follow-transfers.html',
    '/docs/guides/react-to-transfers.html',
  ])
})
