// Runs a command within this process, for tests that look at what it says and stores: a process of its own would spend
// most of its life on loading code. What signals, exits and terminals do is seen in real ones (`command-run.ts`).
import type { EventEmitter } from 'node:events'
import { almanacMain, almanacProgram } from './bundled-service.ts'

export type Ended = { code: number | null; stdout: string; stderr: string }

/** One at a time: a process has one working directory, one environment and one exit code. */
export async function runHere(
  parameters: readonly string[],
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const { argv, env, exitCode } = process
  const cwd = process.cwd()
  await using left = new AsyncDisposableStack()
  left.defer(() => {
    Object.assign(process, { argv, env, exitCode })
    process.chdir(cwd)
  })
  process.chdir(directory)
  process.argv = [process.execPath, almanacMain, ...parameters]
  // As in `CommandRun`: the machine's own must not decide what is tested.
  process.env = { PATH: env.PATH, ...environment }
  // Node reads this one where it was. A sandbox that runs on this machine is not of the test.
  const { TMPDIR } = env
  left.defer(() => {
    if (TMPDIR === undefined) delete env.TMPDIR
    else env.TMPDIR = TMPDIR
  })
  env.TMPDIR = directory
  process.exitCode = undefined
  left.defer(listening(process, ['SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection']))
  left.defer(listening(process.stdout, ['error']))
  const [stdout, stderr] = [process.stdout, process.stderr].map(stream => {
    const { write } = stream
    left.defer(() => {
      stream.write = write
    })
    const written: string[] = []
    stream.write = (text: string | Uint8Array) => written.push(String(text)) > 0
    return written
  }) as [string[], string[]]
  const endedWith = (code: unknown): Ended => ({
    code: Number(code ?? 0),
    stdout: stdout.join(''),
    stderr: stderr.join(''),
  })
  // A process does and says nothing after it; here all that is left of the command is not looked at.
  let ended: Ended | undefined
  const { exit } = process
  left.defer(() => void Object.assign(process, { exit }))
  process.exit = code => {
    ended ??= endedWith(code ?? process.exitCode)
    throw new Error('the command has ended')
  }
  const { runCommand } = (await import(almanacProgram)) as typeof import('../src/cli/program.ts')
  try {
    await runCommand()
  } catch (error) {
    if (ended === undefined) throw error
  }
  return ended ?? endedWith(process.exitCode)
}

/** Gives what removes the listeners that were added since. */
function listening(emitter: EventEmitter, events: readonly string[]): () => void {
  const before = events.map(event => emitter.listeners(event))
  return () => {
    for (const [at, event] of events.entries())
      for (const listener of emitter.listeners(event))
        if (!before[at]!.includes(listener)) emitter.off(event, listener as () => void)
  }
}
