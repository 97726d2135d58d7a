// The simulator and the indexer were written apart: what one generates the other must fetch, prove and decode to the last row.
import { afterEach, expect, test } from 'vitest'
import { builtInChains } from '../../src/chains.ts'
import { ChainRpc } from '../../src/evm/rpc/chain-rpc.ts'
import { inlineDecoder } from '../../src/evm/source/decode-pool.ts'
import { FullSource } from '../../src/evm/source/full-source.ts'
import type { ActivityRow, Address, Evidence, TransferRow } from '../../src/model.ts'
import { unpackActivity } from '../../src/store/packed-activity.ts'
import { unpackTransfer } from '../../src/store/transfer-payload.ts'
import { expectSame } from '../evm-fault-checks.ts'
import type { Fault } from './faults.ts'
import { type SimNode, startSimNode } from './node.ts'
import type { SimChainOptions } from './options.ts'
import { expectedActivity, expectedTransfers } from './truth.ts'

let node: SimNode
let rpc: ChainRpc

afterEach(async () => {
  await rpc.close()
  await node.close()
})

const withoutReceipts: Fault[] = [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }]

test.each([
  ['eth', { hashes: 'real' }, [], 'receipts-root'],
  ['eth', { hashes: 'real', signed: true }, withoutReceipts, 'bloom'],
  ['eth', { hashes: 'real', signed: true, types: [0, 1, 2, 3, 4], mergedAt: 90 }, [], 'receipts-root'],
  ['eth', { hashes: 'cheap' }, withoutReceipts, 'one-endpoint'],
  ['polygon', { hashes: 'real', stateSync: 'listed' }, [], 'receipts-root'],
  ['polygon', { hashes: 'real', stateSync: 'own-index' }, [], 'receipts-root'],
  ['polygon', { hashes: 'real', stateSync: 'unlisted' }, withoutReceipts, 'bloom'],
] satisfies [string, Partial<SimChainOptions>, Fault[], Evidence][])(
  '%s with %j and faults %j is proven by %s',
  async (name, options: Partial<SimChainOptions>, faults, evidence) => {
    const chain = builtInChains.find(known => known.name === name)!
    const shape = { height: 200, chainId: chain.id, denseEvery: 40, emptyEvery: 9, finalityDepth: 60, seed: 17 }
    node = await startSimNode({ chain: { ...shape, ...options }, endpoints: [{ faults }] })
    node.reorg({ depth: 20, length: 25 })
    rpc = new ChainRpc({ chain, endpoints: [{ url: node.url }] })
    const source = new FullSource(chain, rpc, inlineDecoder, { senderSample: 50 })
    const { signal } = new AbortController()
    const { head } = node.chain
    const transfers: TransferRow[] = []
    const activity = new Map<Address, ActivityRow>()
    for (let from = 0; from <= head; from += 67) {
      const range = await source.range({ from, to: Math.min(from + 66, head) }, 'block', signal)
      // No root holds the logs of the state-sync transaction in every 64th block.
      const stateSync = options.stateSync !== undefined && Math.floor((from + 66) / 64) * 64 >= Math.max(1, from)
      expect(range.evidence).toBe(stateSync && from + 66 <= head ? 'one-endpoint' : evidence)
      transfers.push(...range.transfers)
      for (const row of unpackActivity(range.activity)) {
        const known = activity.get(row.address)
        activity.set(row.address, known === undefined ? row : { ...known, last: row.last })
      }
    }
    const found = transfers.map(({ payload, ...row }) => ({ ...row, ...unpackTransfer(payload) }))
    const expected = expectedTransfers(node.chain, { from: 0, to: head })
    expectSame(
      found,
      expected.map(({ blockHash: _, timestamp: __, ...row }) => row),
      'transfers',
    )
    expect(found.length).toBeGreaterThan(1_500)
    expectSame(activity, expectedActivity(node.chain, { from: 0, to: head }), 'activity')
  },
)
