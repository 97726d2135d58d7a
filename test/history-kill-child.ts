// A process that indexes a chain from files until nothing is missing, or until it is killed. It prints how many blocks
// are claimed, once for their transfers and once for their senders, whenever that changes, and `done` at the end.
// Run: node test/history-kill-child.ts <store url> <chain id> <head> <folder> <blocks a second>
import { writeSync } from 'node:fs'
import { blockCount, wholeCoverage } from '../src/coverage.ts'
import { chainOf, HistoryIndex } from './history-world.ts'

const [url = '', chainId = '', head = '', folder = '', blocksPerSecond = ''] = process.argv.slice(2)
// The parent is gone, whatever the reason: nobody would end this process.
process.on('disconnect', () => process.exit())
const backfill = { paused: false, blocksPerSecond: Number(blocksPerSecond) }
const index = await HistoryIndex.open(chainOf(Number(chainId)), url, { history: [folder], backfill })
let claimed: number | undefined
await index.until(({ covered, complete, state, head: at }) => {
  const now = blockCount(wholeCoverage(covered, 'transfers')) + blockCount(wholeCoverage(covered, 'full'))
  if (now !== claimed) writeSync(1, `${now}\n`)
  claimed = now
  return complete && state === 'live' && at === Number(head)
})
await index.close()
writeSync(1, 'done\n')
process.disconnect?.()
