// How fast transfers go into the store, newest first, and how much disk and memory they take.
// Run: npm run bench:write [-- --transfers 5000000 --activity]
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { generateTransfers } from './generate.ts'

const { values } = parseArgs({
  options: { transfers: { type: 'string', default: '5000000' }, activity: { type: 'boolean', default: false } },
})
const transfers = Number(values.transfers)
const directory = mkdtempSync(join(tmpdir(), 'almanac-bench-'))

try {
  const store = await openStore(`file:${join(directory, 'almanac.db')}`, { role: 'owner' })
  let peakRss = 0
  const cpuBefore = process.cpuUsage()
  const rates: number[] = []
  const startedAt = performance.now()
  const { commitMs, contracts } = await generateTransfers(store, {
    chain: 1 as ChainId,
    transfers,
    activity: values.activity,
    onCommit: commit => {
      rates.push((commit.transfers / commit.commitMs) * 1000)
      peakRss = Math.max(peakRss, process.memoryUsage.rss())
    },
  })
  const wallMs = performance.now() - startedAt
  const cpu = process.cpuUsage(cpuBefore)
  await store.close()
  const bytes = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
  const lastTenth = rates.slice(-Math.ceil(rates.length / 10))
  const result = {
    benchmark: 'store-write',
    transfers,
    contracts: contracts.length,
    transfersPerSecond: Math.round((transfers / commitMs) * 1000),
    lastTenthPerSecond: Math.round(lastTenth.reduce((sum, rate) => sum + rate, 0) / lastTenth.length),
    withGenerationPerSecond: Math.round((transfers / wallMs) * 1000),
    withGenerationPerCpuSecond: Math.round((transfers / (cpu.user + cpu.system)) * 1_000_000),
    bytesPerTransfer: Number((bytes / transfers).toFixed(1)),
    peakResidentMegabytes: Math.round(peakRss / 2 ** 20),
  }
  console.table([
    { measure: 'transfers/s inside the store', value: result.transfersPerSecond, target: '>= 80000' },
    { measure: 'transfers/s, last tenth', value: result.lastTenthPerSecond, target: '>= 80000' },
    { measure: 'transfers/s with generating them', value: result.withGenerationPerSecond, target: '' },
    { measure: 'the same, per second of CPU time', value: result.withGenerationPerCpuSecond, target: '' },
    { measure: 'bytes on disk a transfer', value: result.bytesPerTransfer, target: '<= 140' },
    { measure: 'peak resident MB', value: result.peakResidentMegabytes, target: '<= 300' },
  ])
  console.log(JSON.stringify(result))
} finally {
  rmSync(directory, { recursive: true })
}
