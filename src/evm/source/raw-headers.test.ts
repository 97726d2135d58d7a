import { expect, test } from 'vitest'
import { type RpcFailureKind, rpcError } from '../../rpc/failures.ts'
import type { RpcPort } from '../rpc/port.ts'
import { RawHeaders } from './raw-headers.ts'

test.each<[RpcFailureKind, asked: number]>([
  ['method-missing', 1],
  ['unauthorized', 1],
  ['pruned', 1],
  ['timeout', 3],
  ['no-endpoint', 3],
])('an endpoint that fails with %s is asked %i times by three requests', async (kind, expected) => {
  const method = 'debug_getRawHeader'
  let asked = 0
  const rpc: Pick<RpcPort, 'endpoints' | 'ask'> = {
    endpoints: ['node.example'],
    async ask() {
      asked++
      throw rpcError({ kind, endpoint: 'node.example', method }, { chain: 'sim', said: 'no' })
    },
  }
  const headers = new RawHeaders(rpc as RpcPort)
  const { signal } = new AbortController()
  for (let request = 0; request < 3; request++)
    expect(await headers.of({ from: 1, to: 2 }, undefined, signal)).toBeUndefined()
  expect(asked).toBe(expected)
})
