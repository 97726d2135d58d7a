// Taking back in steps: as one transaction would, whatever is merged between, and never wrong when it ends half way.
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { packTransfer } from '../../../../test/pack-transfer.ts'
import { killBulkRows, planOf } from '../../../../test/store-kill-plan.ts'
import { requireEqual, requireSoundRuns } from '../../../../test/store-kill-run.ts'
import type { Address, Block, ChainId, Hash, Interval } from '../../../model.ts'
import { packActivity } from '../../packed-activity.ts'
import type { ColdCommit, Store } from '../../store.ts'
import { Connection } from '../connection.ts'
import { ownerWriteOptions, prepareFile } from '../open-file.ts'
import { type OpenFileOptions, openSqliteStore } from '../sqlite-store.ts'
import { mergeStep } from './merges.ts'

const chain = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const whole = { from: 0, to: 399 }
const half = { from: 100, to: 299 }

let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-take-back-'))
  await prepareFile(join(folder, 'empty.db'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** `npm run soak:store` has steps between kills. */
test('is the same in one step and in many, with merges between', async () => {
  const [calm, stepped] = [join(folder, 'calm.db'), join(folder, 'stepped.db')]
  const once = await open(calm, { packsPerStep: Infinity })
  const often = await open(stepped, { packsPerStep: 1 })
  const beside = new Connection(stepped, ownerWriteOptions)
  let merges = 0
  for (const { apply } of planOf(5, 22)) {
    await apply(once)
    const isDone = apply(often).then(() => true)
    while (!(await Promise.race([isDone, setImmediate(false)])))
      if (mergeStep(beside, 1 + ((merges * 7) % 60), undefined, 3) > 0) merges++
  }
  beside.close()
  await once.close()
  await often.close()
  await requireEqual(calm, stepped)
  requireSoundRuns(stepped)
  expect(merges).toBeGreaterThan(0)
})

test('a large range goes in many transactions, and what comes back finds nothing to replace', async () => {
  const [small, large] = [await filled('small.db', Infinity), await filled('large.db', 2)]
  const drop = (store: Store): Promise<void> => store.dropRange(chain, 'full', half)
  const refill = (store: Store): Promise<unknown> => store.commitCold(commitOf(half))
  const unfinalize = (store: Store): Promise<void> => store.unfinalize(chain, 350)
  const pending = (store: Store): Promise<unknown> => store.commitCold({ ...commitOf(half), covered: [] })
  const replace = (store: Store): Promise<unknown> => store.commitCold(commitOf({ from: 250, to: 260 }))
  for (const [work, isLong] of [
    [drop, true],
    [refill, false],
    [pending, true],
    [replace, true],
    [unfinalize, true],
  ] as const) {
    expect(await transactionsOf(small, work)).toBe(1)
    expect((await small.sizeOf({ chain })).transfers).toBe(await small.transferCount({ chain, contract }))
    if (isLong) expect(await transactionsOf(large, work)).toBeGreaterThan(5)
    else expect(await transactionsOf(large, work)).toBe(1)
  }
  await small.close()
  await large.close()
  await requireEqual(join(folder, 'small.db'), join(folder, 'large.db'))
})

test.each([
  ['a dropped range', (store: Store) => store.dropRange(chain, 'full', half)],
  ['a commit', (store: Store) => store.commitCold(commitOf(half))],
  ['finality', (store: Store) => store.unfinalize(chain, 99)],
] as const)('%s that ends half way claims nothing that is gone, and is finished by the next try', async (_, work) => {
  const [calm, path] = [join(folder, 'calm.db'), join(folder, 'ended.db')]
  const undisturbed = await filled('calm.db', Infinity)
  await work(undisturbed)
  await undisturbed.close()
  const store = await filled('ended.db', 2)
  const before = await store.transferCount({ chain, contract })
  const ending = work(store)
  while ((await store.transferCount({ chain, contract })) === before) await setImmediate()
  await Promise.all([expect(ending).rejects.toThrow('it was closed'), store.close()])

  const found = await open(path, { packsPerStep: 2 })
  const count = await found.transferCount({ chain, contract })
  expect(count).toBeLessThan(before)
  const page = await found.transferPage({ chain, contract, order: 'desc', limit: 10_000 })
  expect(page.length).toBe(count)
  const claimed = [...(await found.coverage(chain, 'full')), ...(await found.contractCoverage(chain, contract))]
  expect(claimed.some(({ from, to }) => from <= half.to && to >= half.from)).toBe(false)
  await work(found)
  await found.close()
  await requireEqual(calm, path)
})

test('a commit that is refused takes nothing back', async () => {
  const store = await filled('refused.db', 1)
  const [row] = commitOf(half).transfers
  const strange = { ...commitOf(half), blocks: [], transfers: [{ ...row!, block: 1_000 }] }
  await expect(store.commitCold(strange)).rejects.toThrow('1000')
  await expect(store.unfinalize(chain, 1_000)).rejects.toMatchObject({ code: 'conflict' })
  await store.close()
  await (await filled('calm.db', 1)).close()
  await requireEqual(join(folder, 'calm.db'), join(folder, 'refused.db'))
})

async function open(path: string, options: Pick<OpenFileOptions, 'packsPerStep'>): Promise<Store> {
  // They are compared, and so is their secret.
  if (!existsSync(path)) copyFileSync(join(folder, 'empty.db'), path)
  return openSqliteStore(path, { role: 'owner', bulkRows: killBulkRows, runsPerMerge: 3, ...options })
}

/** All in few runs, which are merged. */
async function filled(name: string, packsPerStep: number): Promise<Store> {
  const store = await open(join(folder, name), { packsPerStep })
  for (let to = whole.to; to >= 0; to -= 40) await store.commitCold(commitOf({ from: to - 39, to }))
  return store
}

/** Eight transfers and as many wallets a block. */
function commitOf({ from, to }: Interval): ColdCommit {
  const blocks = Array.from({ length: to - from + 1 }, (_, at): Block => {
    const number = from + at
    return { number, hash: hashOf(number), timestamp: 1_000 + number }
  })
  const places = blocks.flatMap(block => Array.from({ length: 8 }, (_, at) => ({ block, at })))
  const wallet = (number: number): Address => `0x${(number % 97).toString(16).padStart(40, 'a')}` as Address
  const payloadOf = (number: number): Uint8Array =>
    packTransfer({
      ...{ standard: 'ERC721', batch: false, from: wallet(number), to: wallet(number + 1), amount: 1n, value: 0n },
      ...{ tokenId: BigInt(number) ** 9n, transactionHash: hashOf(number), idCount: 1, operator: undefined },
    })
  return {
    chain,
    blocks,
    ranges: [{ from, to, hash: hashOf(to) }],
    covered: [{ from, to, evidence: 'bloom', scope: 'full' }],
    transfers: places.map(({ block: { number: block }, at }) => {
      const place = { block, transactionIndex: at, logIndex: at, batchIndex: 0 }
      return { ...place, contract, payload: payloadOf(block * 8 + at) }
    }),
    activity: packActivity(
      places.map(({ block: { number, hash, timestamp }, at }) => {
        const ref = { block: number, transactionIndex: at, hash, timestamp }
        return { address: wallet(number * 8 + at), first: ref, last: ref }
      }),
    ),
  }
}

function hashOf(number: number): Hash {
  return `0x${number.toString(16).padStart(64, '5')}` as Hash
}

/** Those that changed anything. */
async function transactionsOf(store: Store, work: (store: Store) => Promise<unknown>): Promise<number> {
  const before = Number(store.revision())
  await work(store)
  return Number(store.revision()) - before
}
