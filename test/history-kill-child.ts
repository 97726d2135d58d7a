// A process that indexes a chain from files until nothing is missing, or until it is killed. It prints how many blocks
// are left whenever that changes, and `done` at the end.
// Run: node test/history-kill-child.ts <store url> <chain id> <head> <folder> <blocks a second>
import { writeSync } from 'node:fs'
import { chainOf, HistoryIndex } from './history-world.ts'

const [url = '', chainId = '', head = '', folder = '', blocksPerSecond = ''] = process.argv.slice(2)
// The parent is gone, whatever the reason: nobody would end this process.
process.on('disconnect', () => process.exit())
const backfill = { paused: false, blocksPerSecond: Number(blocksPerSecond) }
const index = await HistoryIndex.open(chainOf(Number(chainId)), url, { history: [folder], backfill })
let left: number | undefined
await index.until(({ blocks_left, complete, state, head: at }) => {
  if (blocks_left !== left) writeSync(1, `${blocks_left}\n`)
  left = blocks_left
  return complete && state === 'live' && at === Number(head)
})
await index.close()
writeSync(1, 'done\n')
process.disconnect?.()
