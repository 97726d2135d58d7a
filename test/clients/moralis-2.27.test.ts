// The newest SDK, 2.27.2, against `/api/v2.2`.
import Moralis from 'moralis-2.27'
import { describe } from 'vitest'
import { type Sdk, testSdk } from './sdk-suite.ts'

describe('moralis 2.27.2', () => {
  testSdk({ sdk: Moralis as unknown as Sdk, version: 'v2.2', dialect: 'live' })
})
