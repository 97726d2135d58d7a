// Runs one command and turns its failure into two lines and an exit code.
import { describeError } from '../errors.ts'
import { exitCodeOf } from './exit-code.ts'
import { createProgram } from './program.ts'
import { printNote } from './terminal.ts'

export async function runCommand(): Promise<void> {
  // A reader that has seen enough, such as `head`, closes the pipe: that is no failure.
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  })
  try {
    await createProgram().parseAsync()
  } catch (error) {
    printNote(describeError(error))
    process.exitCode = exitCodeOf(error)
  }
}
