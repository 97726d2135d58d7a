// What missing blocks must connect to. How far they rise by it is tested with the claims.
import { expect, onTestFinished, test } from 'vitest'
import { simulatedChain, temporaryStore } from '../../../test/evm-harness.ts'
import { SimChain } from '../../../test/sim/chain.ts'
import { startSimNode } from '../../../test/sim/node.ts'
import { SimSource } from '../../../test/sim-source.ts'
import type { CoveredInterval, Hash } from '../../model.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { ChainRpc } from '../rpc/chain-rpc.ts'
import { BulkSources } from '../source/bulk-sources.ts'
import { FullSource } from '../source/full-source.ts'
import { linkBelow, linkedClaims } from './anchors.ts'

const shape = { height: 100, hashes: 'real', finalityDepth: 10, transactionsPerBlock: 1 } as const

test('activity is read of the blocks whose transfers are stored, or not at all', async () => {
  const node = await startSimNode({ chain: shape })
  const other = new SimChain({ ...shape, seed: 2 })
  const chain = simulatedChain(node)
  const { store, remove } = await temporaryStore()
  const rpc = new ChainRpc({ chain, endpoints: node.endpoints.map(({ url }) => ({ url })) })
  const nodeless = new ChainRpc({ chain, endpoints: [] })
  onTestFinished(async () => {
    await Promise.all([rpc.close(), nodeless.close(), node.close(), remove()])
  })
  const stored: CoveredInterval[] = [
    { from: 0, to: 40, evidence: 'unanchored' },
    { from: 51, to: 60, evidence: 'canonical' },
  ]
  const blocks = [0, 40, 51, 60].map(number => {
    const sim = number > 40 ? node.chain : other
    return { number, hash: sim.hashOf(number) as Hash, timestamp: sim.block(number).timestamp }
  })
  await store.commitCold({ chain: chain.id, covered: [], blocks, transfers: [], activity: noActivity })
  const { signal } = new AbortController()
  const known = { chain, store, rpc, source: new FullSource(chain, rpc), final: undefined, mayFloat: true }
  const again = { ...known, covered: [], stored }
  const links = await linkedClaims([{ from: 0, to: 40 }], again, signal)
  expect(links.expectedHash(40)).toBe(other.hashOf(40))
  // Blocks that nothing is stored of hang on what is claimed above them.
  const fresh = await linkedClaims([{ from: 41, to: 50 }], { ...known, covered: stored }, signal)
  expect(fresh.expectedHash(50)).toBe(node.chain.hashOf(50))
  const below = linkedClaims([{ from: 0, to: 30 }], { ...again, rpc: nodeless }, signal)
  await expect(below).rejects.toThrow('No source of sim has the header of block 40')
})

test('what hangs on a header that proves nothing is the word of its source, whatever it is connected to later', async () => {
  const node = await startSimNode({ chain: shape })
  const chain = simulatedChain(node)
  const rpc = new ChainRpc({ chain, endpoints: node.endpoints.map(({ url }) => ({ url })) })
  const nodeless = new ChainRpc({ chain, endpoints: [] })
  onTestFinished(async () => {
    await Promise.all([rpc.close(), nodeless.close(), node.close()])
  })
  const { signal } = new AbortController()
  const bulk = new BulkSources([
    new SimSource({ chain, sim: node.chain, holds: [{ from: 0, to: 60 }], unproven: true }),
  ])
  await bulk.look(signal)
  const hash = (number: number): Hash => node.chain.hashOf(number) as Hash
  for (const evidence of ['unanchored', 'canonical'] as const) {
    const walk = {
      chain,
      source: new FullSource(chain, rpc),
      bulk,
      anchor: { number: 50, hash: hash(50), evidence },
      to: 45,
    }
    const link = await linkBelow({ ...walk, rpc: nodeless }, signal)
    expect(link).toEqual({ hash: hash(45), evidence: 'one-endpoint' })
    expect(await linkBelow({ ...walk, rpc }, signal)).toEqual({ hash: hash(45), evidence })
  }
})
