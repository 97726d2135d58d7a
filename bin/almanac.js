#!/usr/bin/env node
// The command `almanac`: runs the build, or the sources of a checkout. Like `check-node.js` it has no syntax that is
// newer than Node 12.20, such as top-level await.
import './check-node.js'
import { existsSync } from 'node:fs'

const source = new URL('../src/cli/main.ts', import.meta.url)
import(existsSync(source) ? source : new URL('../dist/cli/main.js', import.meta.url))
