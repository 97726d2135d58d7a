// How well the spam rules tell made-up collections apart, through the real indexer and a simulated node: shares flagged by kind.
// Run: npm run bench:spam [-- seed [honest [spam [recipients]]]]
//
// The rules were weighed on seeds 0 to 3 alone. The default seed was not looked at before the weights were settled.
import { judgeWorld, shareFlagged, tallyOf } from '../test/spam/world.ts'

const [seed = 20_261_115, honest = 600, spam = 300, recipientsMax = 1_000] = process.argv
  .slice(2)
  .filter(text => /^\d+$/.test(text))
  .map(Number)
const showMistakes = process.argv.includes('--mistakes')
const started = performance.now()
const { judged, transfers } = await judgeWorld({ seed, honest, spam, recipientsMax })
const seconds = (performance.now() - started) / 1_000
const tallies = tallyOf(judged)
const percent = (share: number) => `${(100 * share).toFixed(2)} %`

console.log(
  `seed ${seed}: ${honest} honest and ${spam} spam collections, ${transfers} transfers, ${seconds.toFixed(1)} s\n`,
)
for (const { kind, isSpam, count, flagged } of tallies)
  console.log(
    `${kind.padEnd(24)} ${isSpam ? 'spam  ' : 'honest'} ${String(flagged).padStart(4)} of ${String(count).padStart(4)} flagged`,
  )
const [caught, wronged] = [shareFlagged(tallies, true), shareFlagged(tallies, false)]
console.log(`\nspam flagged    ${percent(caught).padStart(9)}  (at least 95 %)`)
console.log(`others flagged  ${percent(wronged).padStart(9)}  (at most 1 %)`)
if (showMistakes) {
  for (const { collection, facts } of judged) {
    const { kind, isSpam, name, standard, state } = collection.facts
    if ((facts?.possibleSpam ?? false) === isSpam) continue
    const rules = facts?.verdict?.reasons.map(({ rule }) => rule).join(' ')
    console.log(
      `${kind}: ${name} (${standard}, state ${state}, ${collection.transferCount} transfers) ${facts?.verdict?.score}: ${rules}`,
    )
  }
}
if (caught < 0.95 || wronged > 0.01) process.exitCode = 1
