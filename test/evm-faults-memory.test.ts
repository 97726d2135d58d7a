// Memory must not grow with the chain: an index process reads fifty thousand blocks in full and stays small. Long, so only where the
// fault runs are many.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { IndexProcess } from './evm-fault-process.ts'
import { simulatedChain } from './evm-harness.ts'
import { startSimNode } from './sim/node.ts'

const blocks = Number(process.env.ALMANAC_MEMORY_BLOCKS ?? 50_000)
const residentMax = 400 * 2 ** 20

test.runIf(process.env.ALMANAC_FAULT_RUNS)('full mode stays below 400 MB', { timeout: 1_800_000 }, async () => {
  const node = await startSimNode({ chain: { height: blocks, hashes: 'cheap' }, cacheBytes: 16 * 2 ** 20 })
  const folder = mkdtempSync(join(tmpdir(), 'almanac-memory-'))
  const child = new IndexProcess({
    chain: simulatedChain(node),
    index: 'full',
    from: 0,
    contracts: [],
    storeUrl: `file:${join(folder, 'almanac.db')}`,
    urls: [node.url],
  })
  try {
    let highest = 0
    for (let state = ''; state !== 'live'; await delay(100)) {
      highest = Math.max(highest, residentOf(child.processId))
      const status = await child.ask({ ask: 'status' })
      state = status.complete ? status.state : ''
    }
    console.log(`${blocks} blocks: ${Math.round(highest / 2 ** 20)} MB at the most`)
    expect(highest).toBeLessThan(residentMax)
  } finally {
    await child.kill()
    await node.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Bytes in memory, from the system's own book. */
function residentOf(processId: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) * 1_024
}
