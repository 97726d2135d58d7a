import { expect, test } from 'vitest'
import { defaultApiSettings } from './context.ts'
import { freshenWaitMsOf } from './operation.ts'
import type { ApiRequest } from './request.ts'

const settings = { ...defaultApiSettings, freshenWaitMs: 3_000, requestTimeoutMs: 15_000 }
const waitOf = (prefer: string | undefined) =>
  freshenWaitMsOf({ header: (name: string) => (name === 'prefer' ? prefer : undefined) } as ApiRequest, settings)

test.each([
  [undefined, 3_000],
  ['', 3_000],
  ['respond-async', 3_000],
  ['wait=0', 0],
  ['wait=7', 7_000],
  ['respond-async, wait = "5"', 5_000],
  ['handling=lenient; WAIT=2', 2_000],
  ['wait=999999', 14_000],
  ['wait=-1', 3_000],
  ['await=9', 3_000],
])('%j waits %i ms', (prefer, waitMs) => {
  expect(waitOf(prefer)).toBe(waitMs)
})
