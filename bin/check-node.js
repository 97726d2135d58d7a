// Ends an old Node with a sentence instead of a SyntaxError. Node 12.20 and newer can run this file: keep it that old,
// and import it before anything else.
import { existsSync, readFileSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const required = Number.parseInt(engines.node.replace('>=', ''), 10)

if (Number.parseInt(process.versions.node, 10) < required) {
  writeSync(2, `Error: Almanac needs Node ${required} or newer; this is Node ${process.versions.node}.\n`)
  // A checkout has installed one beside its programs, which npm finds; a shell needs the folder on its PATH.
  const folder = fileURLToPath(new URL('../node_modules/.bin', import.meta.url))
  writeSync(
    2,
    existsSync(`${folder}/node`)
      ? `Try:   use the Node ${required} of this checkout: export PATH="${folder}:$PATH"\nOr:    in the checkout, npm run almanac -- COMMAND\n`
      : // An install under an older Node skips the optional packages that need a newer one.
        `Try:   install Node ${required}, then run npm install again.\n`,
  )
  process.exit(1)
}
