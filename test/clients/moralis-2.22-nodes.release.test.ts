// The SDK of the reference's own time, 2.22.4, against `/api/v2`, for what nodes have.
import Moralis from 'moralis-2.22'
import { describe } from 'vitest'
import { type NodeSdk, testNodeSdk } from './node-suite.ts'

describe('moralis 2.22 on nodes', () => {
  testNodeSdk({ sdk: Moralis as unknown as NodeSdk, version: 'v2' })
})
