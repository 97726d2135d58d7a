#!/usr/bin/env node
// The command `almanac`: runs the build, or the sources of a checkout. Every Node must be able to parse it, so that an old
// one prints a sentence instead of a SyntaxError.
import { existsSync, readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const required = Number.parseInt(engines.node.replace('>=', ''), 10)

if (Number.parseInt(process.versions.node, 10) < required) {
  process.stderr.write(`Error: Almanac needs Node ${required} or newer; this is Node ${process.versions.node}.\n`)
  process.exitCode = 1
} else {
  const source = new URL('../src/cli/main.ts', import.meta.url)
  await import(existsSync(source) ? source : new URL('../dist/cli/main.js', import.meta.url))
}
