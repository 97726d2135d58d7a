// Ends an old Node with a sentence instead of a SyntaxError. Node 12.20 and newer can run this file: keep it that old,
// and import it before anything else.
import { readFileSync, writeSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const required = Number.parseInt(engines.node.replace('>=', ''), 10)

if (Number.parseInt(process.versions.node, 10) < required) {
  writeSync(2, `Error: Almanac needs Node ${required} or newer; this is Node ${process.versions.node}.\n`)
  // An install under an older Node skips the optional packages that need a newer one.
  writeSync(2, `Try:   install Node ${required}, then run npm install again.\n`)
  process.exit(1)
}
