// Asks portals for blocks that fail in ways drawn from seeds: nothing wrong may ever be given.
//
//   npm run soak:portal -- [--seeds 1000] [--first 1]
//
// Prints each seed that gave something wrong, and ends with exit code 1 where one did.
import { parseArgs } from 'node:util'
import { portalTrial } from '../test/portal-trial.ts'

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1000' }, first: { type: 'string', default: '1' } },
})
const [first, seeds] = [Number(values.first), Number(values.seeds)]
const counts = new Map<string, number>()
let [wrong, refusals, blocks] = [0, 0, 0]
for (let seed = first; seed < first + seeds; seed++) {
  const outcome = await portalTrial(seed)
  for (const fault of outcome.faults) counts.set(fault, (counts.get(fault) ?? 0) + 1)
  refusals += outcome.refusals
  blocks += outcome.blocks
  if (outcome.problem === undefined) continue
  wrong++
  say(`seed ${seed}: ${outcome.problem} (${outcome.faults.join(', ')})`)
}
const faults = [...counts].sort().map(([fault, count]) => `${fault} ${count}`)
say(`${seeds} seeds: ${wrong} wrong, ${blocks} blocks given, ${refusals} refusals; faults: ${faults.join(', ')}`)
process.exitCode = wrong > 0 ? 1 : 0

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
