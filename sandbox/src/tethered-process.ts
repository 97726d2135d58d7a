// Starts a program that ends with this process, even if this one is killed, so no node outlives the sandbox.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

const startTimeoutMs = 30_000

// A background shell waits for the end of its input, which comes when the parent is killed too, and then kills the
// program.
const tether = 'exec 3<&0; (cat <&3; kill -9 $$) >/dev/null 2>&1 & exec "$@" </dev/null 3<&-'

/** In its own process group, so Ctrl-C on a terminal reaches only the parent, which stops it. */
export function spawnTethered(command: readonly string[]): ChildProcess {
  const child = spawn('sh', ['-c', tether, 'sh', ...command], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  child.once('exit', () => child.stdin?.destroy())
  return child
}

/** Waits until the output matches the pattern; discards later output. */
export async function printedBy(child: ChildProcess, pattern: RegExp, name: string): Promise<string> {
  let printed = ''
  return await new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`${name} ${reason}. It printed:\n${printed}`))
    }
    const timer = setTimeout(() => fail(`did not listen within ${startTimeoutMs} ms`), startTimeoutMs)
    const exited = (code: number | null): void => fail(`ended with ${code}`)
    const read = (chunk: Buffer): void => {
      printed += chunk.toString()
      const found = pattern.exec(printed)?.[1]
      if (found === undefined) return
      clearTimeout(timer)
      child.off('exit', exited)
      child.stdout?.off('data', read).resume()
      resolve(found)
    }
    child.once('exit', exited)
    child.once('error', error => fail(error.message))
    child.stdout?.on('data', read)
  })
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
