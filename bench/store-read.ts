// How long one page and one count take inside the store, in a small and in a large one, in one run: only the ratio counts on
// a machine that others use. Run: npm run bench:read [-- --small 100000 --large 10000000]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Address, ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { Store, TransferPageQuery } from '../src/store/store.ts'
import { type Generated, generateTransfers } from './generate.ts'
import { median, percentile } from './statistics.ts'

const { values } = parseArgs({
  options: { small: { type: 'string', default: '100000' }, large: { type: 'string', default: '10000000' } },
})
const chain = 1 as ChainId
const pageRows = 100
const samples = 3_000
const contractsPerStore = 40
const directory = mkdtempSync(join(tmpdir(), 'almanac-bench-'))

type Subject = { store: Store; generated: Generated }
type Case = { name: string; order: TransferPageQuery['order']; deep: boolean }
const cases: Case[] = [
  { name: 'first page, newest first', order: 'desc', deep: false },
  { name: 'deep page, newest first', order: 'desc', deep: true },
  { name: 'first page, oldest first', order: 'asc', deep: false },
  { name: 'deep page, oldest first', order: 'asc', deep: true },
]

async function makeSubject(name: string, transfers: number): Promise<Subject> {
  const url = `file:${join(directory, `${name}.db`)}`
  const owner = await openStore(url, { role: 'owner' })
  const generated = await generateTransfers(owner, { chain, transfers, largestShare: 0.12 })
  await owner.close()
  return { store: await openStore(url, { role: 'reader' }), generated }
}

/** Contracts of a full page at any depth asked for. */
function contractsOf({ generated }: Subject): Address[] {
  const large = generated.contracts.filter(({ transfers }) => transfers >= 3 * pageRows)
  return large.slice(0, contractsPerStore).map(({ contract }) => contract)
}

/** Microseconds of one page: the median is what the page costs, whatever else the machine does. */
async function timePages(subjects: readonly Subject[], test: Case): Promise<number[][]> {
  const times: number[][] = subjects.map(() => [])
  // Alternating in short turns, so that both meet the same moments of the machine.
  const turn = 50
  for (let done = 0; done < samples; done += turn)
    for (const [index, subject] of subjects.entries()) {
      const contracts = contractsOf(subject)
      const { from, to } = subject.generated
      for (let sample = done; sample < done + turn; sample++) {
        const share = test.deep ? 0.2 + 0.5 * ((sample * 0.618) % 1) : 0
        const block = Math.floor(test.order === 'desc' ? to - share * (to - from) : from + share * (to - from))
        const after = { block, transactionIndex: 5, logIndex: 5, batchIndex: 0 }
        const query = { chain, contract: contracts[sample % contracts.length]!, order: test.order, limit: pageRows }
        const startedAt = performance.now()
        await subject.store.transferPage(test.deep ? { ...query, after } : query)
        times[index]!.push((performance.now() - startedAt) * 1000)
      }
    }
  return times
}

async function timeCounts({
  store,
  generated,
}: Subject): Promise<{ transfers: number; whole: number; bounded: number }> {
  const { contract, transfers } = generated.contracts[0]!
  const range = { chain, contract }
  const { from, to } = generated
  const time = async (bounds: { fromBlock?: number; toBlock?: number }) => {
    const startedAt = performance.now()
    await store.transferCount({ ...range, ...bounds })
    return performance.now() - startedAt
  }
  const whole: number[] = []
  const bounded: number[] = []
  for (let sample = 0; sample < 60; sample++) {
    whole.push(await time({}))
    const fromBlock = Math.floor(from + (((sample * 0.618) % 1) * (to - from)) / 2)
    bounded.push(await time({ fromBlock, toBlock: Math.floor(to - (to - fromBlock) * 0.3) }))
  }
  return { transfers, whole: median(whole), bounded: percentile(bounded, 0.95) }
}

try {
  const small = await makeSubject('small', Number(values.small))
  const large = await makeSubject('large', Number(values.large))
  const pages = []
  for (const test of cases) {
    await timePages([small, large], test)
    const [smallTimes, largeTimes] = (await timePages([small, large], test)) as [number[], number[]]
    const ratio = median(largeTimes) / median(smallTimes)
    pages.push({
      case: test.name,
      smallMicroseconds: Math.round(median(smallTimes)),
      largeMicroseconds: Math.round(median(largeTimes)),
      ratio: Number(ratio.toFixed(2)),
      target: '<= 1.5',
    })
  }
  const counts = await timeCounts(large)
  console.table(pages)
  console.table([
    { case: `count of ${counts.transfers} transfers, ms`, median: counts.whole.toFixed(3), target: '<= 20' },
    { case: 'the same between two blocks, 95th percentile, ms', median: counts.bounded.toFixed(3), target: '<= 20' },
  ])
  console.log(JSON.stringify({ benchmark: 'store-read', small: values.small, large: values.large, pages, counts }))
  await small.store.close()
  await large.store.close()
} finally {
  rmSync(directory, { recursive: true })
}
