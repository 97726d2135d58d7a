// The retrying client of the guide to errors, in each language that decides by itself: it asks again what the table of
// the guide says, and nothing else.
import { execFile } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pythonPath } from './python.ts'
import { guideCalls } from './readme-blocks.ts'
import { someCases } from './release-runs.ts'

type Refusal = { status: number; code: string; retryAfter?: string }

let server: Server
let refusal: Refusal
let asked = 0

beforeAll(async () => {
  server = createServer((_, response) => {
    asked += 1
    const { status, code, retryAfter } = refusal
    const isRefused = asked === 1 || code === 'forever'
    response.writeHead(isRefused ? status : 200, {
      'Content-Type': 'application/json',
      ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
    })
    response.end(JSON.stringify(isRefused ? { code, message: 'refused' } : { owners: { current: '7' } }))
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
})
afterAll(() => {
  server.close()
})

const example = guideCalls.find(({ lines }) => lines.some(line => line.includes('retry_after')))!
const programs: readonly (readonly [string, string, readonly string[]])[] = [
  ['curl', 'sh', ['-euc', example.lines.join('\n')]],
  ['TypeScript', process.execPath, ['--input-type=module-typescript', '--eval', example.typescript!]],
  ...(pythonPath === undefined ? [] : [['Python', pythonPath, ['-c', example.python!]] as const]),
]

/** How often it asked; what it prints and how it ends is its own. */
async function timesAsked(program: string, parameters: readonly string[], given: Refusal): Promise<number> {
  asked = 0
  refusal = given
  const { port } = server.address() as AddressInfo
  const here = parameters.map(each => each.replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${port}`))
  await promisify(execFile)(program, here).catch(() => undefined)
  return asked
}

describe.each(programs)('the example in %s', (_, program, parameters) => {
  test.each(someCases([503, 408, 502, 429, 504], 3))('asks again after %i', { timeout: 60_000 }, async status => {
    expect(await timesAsked(program, parameters, { status, code: 'passing', retryAfter: '0' })).toBe(2)
  })

  const once: [string, Refusal][] = [
    ['400', { status: 400, code: 'bad_request', retryAfter: '0' }],
    ['404 chain_not_configured', { status: 404, code: 'chain_not_configured', retryAfter: '0' }],
    ['500', { status: 500, code: 'internal', retryAfter: '0' }],
    ['501', { status: 501, code: 'not_implemented', retryAfter: '0' }],
    ['503 not_configured', { status: 503, code: 'not_configured', retryAfter: '0' }],
    ['a wait above a minute', { status: 503, code: 'budget_exceeded', retryAfter: '3600' }],
  ]
  test.each(someCases(once, 5))('asks once for %s', { timeout: 60_000 }, async (_name, given) => {
    expect(await timesAsked(program, parameters, given)).toBe(1)
  })

  test('gives up after five attempts', { timeout: 60_000 }, async () => {
    expect(await timesAsked(program, parameters, { status: 503, code: 'forever', retryAfter: '0' })).toBe(5)
  })

  test('waits a second where no wait is named', { timeout: 60_000 }, async () => {
    const from = performance.now()
    expect(await timesAsked(program, parameters, { status: 503, code: 'passing' })).toBe(2)
    expect(performance.now() - from).toBeGreaterThan(1_000)
  })
})
