import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { ApiRequest, pathOf } from './request.ts'

test.each([
  ['/a/b', '/a/b', ''],
  ['/a?b=1&c', '/a', 'b=1&c'],
  ['/a?', '/a', ''],
  ['/a?b#c', '/a', 'b'],
  ['/a?b?c', '/a', 'b?c'],
  ['/a#b', '/a', ''],
  ['/a#b?c', '/a', ''],
  ['', '', ''],
])('%j has the path %j and the query %j', (target, path, query) => {
  const incoming = { method: 'GET', headers: {} } as IncomingMessage
  expect(pathOf(target)).toBe(path)
  expect(new ApiRequest(incoming, target, { version: 'v2', names: [] }, []).query).toBe(query)
})
