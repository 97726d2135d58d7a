// Kills a process that indexes a chain from files, again and again, while it reads transfers and recovers senders, and
// compares what is left with the undisturbed store:
//
//   npm run soak:history -- --kills 50 --seed 1
//
// Ends with exit code 1 where they differ.
import { parseArgs } from 'node:util'
import { runKilledHistory } from '../test/history-kill-run.ts'

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    blocks: { type: 'string', default: '3000' },
  },
})
const [kills, seed, blocks] = [options.kills, options.seed, options.blocks].map(Number) as [number, number, number]
const startedAt = performance.now()
const { opening, transfers, senders, end } = await runKilledHistory({ seed, kills, blocks })
const seconds = Math.round((performance.now() - startedAt) / 1_000)
process.stdout.write(
  `seed ${seed}: ${blocks} blocks equal after ${kills} kills in ${seconds} s: ${opening} while opening, ` +
    `${transfers} while transfers were read, ${senders} while senders were recovered, ${end} at the end\n`,
)
