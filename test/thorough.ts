// Tests that take long beside what they add to others of `npm test`: run before a release and at night.
import { test } from 'vitest'
import { isRelease } from './release-runs.ts'

export const thorough = test.runIf(isRelease)
