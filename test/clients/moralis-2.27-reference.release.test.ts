// The newest SDK, 2.27.2, against `/api/v2.2` with the reference dialect forced.
import Moralis from 'moralis-2.27'
import { describe } from 'vitest'
import { type Sdk, testSdk } from './sdk-suite.ts'

describe('moralis 2.27.2, reference dialect', () => {
  testSdk({ sdk: Moralis as unknown as Sdk, version: 'v2.2', dialect: 'reference' })
})
