// Random histories of tokens on real stores, and every question of who owns what compared with a plain model after each
// commit, as of every block; for each seed, in files and in a database:
//
//   npm run soak:owners -- --seeds 300 --first 1 [--engine sqlite]
//
// Ends with exit code 1 where a seed has failed.
import { parseArgs } from 'node:util'
import { tryOnStore } from '../test/holdings-on-store.ts'
import { engineNames, startEngine } from '../test/store-engines.ts'

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '300' },
    first: { type: 'string', default: '1' },
    engine: { type: 'string' },
  },
})
const first = Number(options.first)
const seeds = Number(options.seeds)
const failed: string[] = []
const startedAt = performance.now()
for (const name of engineNames.filter(each => options.engine === undefined || options.engine === each)) {
  const engine = await startEngine(name)
  for (let seed = first; seed < first + seeds; seed++) {
    try {
      await tryOnStore(await engine.newStore(), seed)
      if (seed % 10 === 0) say(`${name}, seed ${seed}: equal`)
    } catch (error) {
      failed.push(`${name} ${seed}`)
      say(`${name}, seed ${seed}: ${error instanceof Error ? error.stack : error}`)
    }
  }
  await engine.close()
}
const seconds = Math.round((performance.now() - startedAt) / 1_000)
say(`seeds ${first} to ${first + seeds - 1} in ${seconds} s`)
if (failed.length > 0) say(`failed: ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
