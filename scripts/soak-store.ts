// Kills processes that write to a store in a file, again and again, while they write, merge and upgrade it, and
// compares what is left with the undisturbed store of the same seed:
//
//   npm run soak:store -- --seeds 200 --first 1
//
// Ends with exit code 1 where a seed has failed.
import { parseArgs } from 'node:util'
import { runKilled } from '../test/store-kill-run.ts'

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    first: { type: 'string', default: '1' },
    writes: { type: 'string', default: '80' },
    kills: { type: 'string', default: '10' },
  },
})
const first = Number(options.first)
const seeds = Number(options.seeds)
const total = { kills: 0, killsInOpening: 0, killsInMerges: 0 }
const failed: number[] = []
const startedAt = performance.now()
for (let seed = first; seed < first + seeds; seed++) {
  try {
    const { levels, ...counts } = await runKilled(seed, Number(options.writes), Number(options.kills))
    for (const name of ['kills', 'killsInOpening', 'killsInMerges'] as const) total[name] += counts[name]
    say(`seed ${seed}: equal after ${counts.kills} kills, ${counts.killsInMerges} within merges, up to level ${levels}`)
  } catch (error) {
    failed.push(seed)
    say(`seed ${seed}: ${error instanceof Error ? error.stack : error}`)
  }
}
const seconds = Math.round((performance.now() - startedAt) / 1_000)
say(
  `${seeds - failed.length} of ${seeds} seeds equal in ${seconds} s: ${total.kills} kills, ${total.killsInOpening} while opening, ${total.killsInMerges} within merges`,
)
if (failed.length > 0) say(`failed: ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
