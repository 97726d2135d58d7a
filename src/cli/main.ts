#!/usr/bin/env node
// The entry of the command line: runs one command and turns its failure into two lines and an exit code.
import { describeError } from '../errors.ts'
import { exitCodeOf } from './exit-code.ts'
import { createProgram } from './program.ts'
import { printNote } from './terminal.ts'

try {
  await createProgram().parseAsync()
} catch (error) {
  printNote(describeError(error))
  process.exitCode = exitCodeOf(error)
}
