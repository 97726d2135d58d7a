// The SDK of the reference's own time, 2.22.4, against `/api/v2`.
import Moralis from 'moralis-2.22'
import { describe } from 'vitest'
import { type Sdk, testSdk } from './sdk-suite.ts'

describe('moralis 2.22.4', () => {
  testSdk({ sdk: Moralis as unknown as Sdk, version: 'v2', dialect: 'live' })
})
