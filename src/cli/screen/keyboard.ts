// Single keys while the service runs on a terminal. The mode of the terminal is given back however the process ends;
// a process in the background, or without a terminal to type at, gets no keys.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { ReadStream } from 'node:tty'

export type Keys = Readonly<Record<string, () => void>>
type Input = Pick<ReadStream, 'isTTY' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>

const interrupt = '\u0003'
const suspend = '\u001a'

/** Calls what a key stands for until the returned function is called; undefined where no key can be pressed. */
export function listenToKeys(
  keys: Keys,
  input: Input = process.stdin,
  foreground = isForeground,
): (() => void) | undefined {
  if (input.isTTY !== true || !foreground()) return undefined
  const all: Keys = {
    // The terminal sends no signals in this mode.
    [interrupt]: () => process.kill(process.pid, 'SIGINT'),
    [suspend]: () => {
      input.setRawMode(false)
      process.kill(process.pid, 'SIGTSTP')
    },
    ...keys,
  }
  const press = (typed: Buffer): void => {
    for (const key of typed.toString()) all[key]?.()
  }
  const takeMode = (): void => void (foreground() && input.setRawMode(true))
  const giveBack = (): void => void input.setRawMode(false)
  input.setRawMode(true)
  input.on('data', press)
  input.resume()
  process.on('SIGCONT', takeMode)
  process.on('exit', giveBack)
  return () => {
    process.off('SIGCONT', takeMode)
    process.off('exit', giveBack)
    input.off('data', press)
    giveBack()
    // An input that is read keeps the process alive.
    input.pause()
  }
}

/** Whether the terminal is this process's: changing its mode from the background would stop the process. */
function isForeground(): boolean {
  try {
    if (process.platform === 'linux') {
      // After the name, which may hold blanks: state, parent, group, session, terminal, the terminal's group.
      const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ')
      return fields[2] === fields[5]
    }
    const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', `${process.pid}`], { encoding: 'utf8' })
    const [group, foreground] = stdout.trim().split(/\s+/)
    return group !== undefined && group === foreground
  } catch {
    return false
  }
}
