// A process that claims a lease and writes one block after another under it until it finds that the lease is lost. It is
// started by a test, with the store, its own name, a contract and how long it may stall, and says when it has begun.
import { setTimeout as delay } from 'node:timers/promises'
import { AlmanacError } from '../src/errors.ts'
import type { Address, ChainId, Hash } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import { packTransfer } from './pack-transfer.ts'

const [url, holder, contract, stallMsMax] = process.argv.slice(2) as [string, string, Address, string]
const ttlMs = 300
const chain = 1 as ChainId
const hashOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash

const store = await openPostgresStore(url, { stallMsMax: Number(stallMsMax) })
let lease = await store.claim('follow', holder, ttlMs)
while (lease === undefined) {
  await delay(50)
  lease = await store.claim('follow', holder, ttlMs)
}
const writer = store.fenced(lease)
try {
  for (let block = 0; ; block++) {
    const payload = packTransfer({
      ...{ standard: 'ERC721', batch: false, from: zeroAddress, to: contract, operator: undefined, tokenId: 1n },
      ...{ amount: 1n, value: 0n, transactionHash: hashOf(block), idCount: 1 },
    })
    const row = { block, transactionIndex: 0, logIndex: 0, batchIndex: 0, contract, payload }
    const blocks = [{ number: block, hash: hashOf(block), timestamp: block }]
    await repeated(() => writer.commitCold({ chain, covered: [], blocks, transfers: [row], activity: noActivity }))
    if (block === 0) process.stdout.write('begun\n')
    await repeated(() => store.claim('follow', holder, ttlMs))
  }
} catch (error) {
  if (!(error instanceof AlmanacError && error.code === 'conflict')) throw error
  process.stdout.write('lost\n')
} finally {
  await store.close()
}

/** As indexers do: what may succeed later is tried again. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
  while (true) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AlmanacError && error.retryable)) throw error
      await delay(50)
    }
  }
}
