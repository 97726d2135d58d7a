// The SDK that is newest, 2.27.2, against `/api/v2.2`, for what nodes have.
import Moralis from 'moralis-2.27'
import { describe } from 'vitest'
import { type NodeSdk, testNodeSdk } from './node-suite.ts'

describe('moralis 2.27 on nodes', () => {
  testNodeSdk({ sdk: Moralis as unknown as NodeSdk, version: 'v2.2' })
})
