// A process that applies the writes of a seed to a store, from one on, until it is done or killed. It prints `opening`,
// `open` with the number of merges that it found begun, and the number of each write that is done.
// Run: node test/store-kill-child.ts <path> <seed> <writes> <first>
import { writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { killOptions, planOf } from './store-kill-plan.ts'

const [path = '', ...numbers] = process.argv.slice(2)
const [seed = 1, length = 1, first = 0] = numbers.map(Number)
// At once and whole: the parent must hear of a write before the next one begins.
const say = (line: string) => writeSync(1, `${line}\n`)

const plan = planOf(seed, length)
say('opening')
const store = await openSqliteStore(path, { role: 'owner', ...killOptions, packsPerStep: 2 })
say(`open ${growingRuns()}`)
for (const [at, write] of plan.entries()) {
  if (at < first) continue
  await write.apply(store)
  say(`${at}`)
}
await store.close()

function growingRuns(): number {
  const raw = new DatabaseSync(path, { readOnly: true })
  const row = raw.prepare('SELECT count(*) AS found FROM runs WHERE growing = 1').get()
  raw.close()
  return row?.found as number
}
