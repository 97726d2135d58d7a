// Fails a suite of a run in which something connected elsewhere than to this machine: `socket-guard.cjs` notes it.
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'

const notes = process.env.ALMANAC_TESTS_CONNECTIONS

afterAll(() => {
  const noted = notes !== undefined && existsSync(notes) ? readFileSync(notes, 'utf8') : ''
  expect(noted, 'connections that leave this machine').toBe('')
})
