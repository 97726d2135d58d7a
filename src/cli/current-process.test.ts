import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { AlmanacError } from '../errors.ts'
import { exitCodeOf } from './current-process.ts'

const source = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)

/** Runs a program with the log and the endings of the service. */
function runWith(program: string) {
  const text = `
    const { createLog } = await import(${source('../log.ts')})
    const { exitOnUncaught } = await import(${source('./current-process.ts')})
    exitOnUncaught(createLog({ level: 'info', format: 'json' }))
    ${program}
    setTimeout(() => process.exit(99), 5_000)`
  return spawnSync(process.execPath, ['--input-type=module', '-e', text], { encoding: 'utf8' })
}

describe('a defect', () => {
  test.each([
    ['thrown', 'setTimeout(() => { throw new Error("fetch https://rpc.example/S3cr3tS3cr3t failed") })'],
    ['rejected', 'Promise.reject(new Error("fetch https://rpc.example/S3cr3tS3cr3t failed"))'],
  ])('that is %s ends the process with 70, and its log line has no secret', (_, program) => {
    const { status, stdout, stderr } = runWith(program)
    expect({ status, stdout }).toEqual({ status: 70, stdout: '' })
    expect(stderr).not.toContain('S3cr3tS3cr3t')
    expect(JSON.parse(stderr)).toMatchObject({
      level: 'fatal',
      msg: 'Uncaught exception; exiting',
      err: { message: 'fetch https://rpc.example/… failed' },
    })
  })

  test('in a command ends it with 70 too, and shows no secret', () => {
    // Thrown once the command is under way.
    const preload = `data:text/javascript,setInterval(() => {
      if (process.stdout.listenerCount('error') > 0)
        throw new Error("fetch https://rpc.example/S3cr3tS3cr3t failed")
    }, 5)`
    const command = ['--import', preload, fileURLToPath(new URL('./main.ts', import.meta.url)), 'keys', 'list']
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', cwd: tmpdir() })
    expect(status).toBe(70)
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('Error: fetch https://rpc.example/… failed')
    expect(stderr).not.toContain('S3cr3tS3cr3t')
  })
})

test('a command ends with the code of its error', () => {
  const refused = Object.assign(new Error('EACCES: permission denied'), { syscall: 'open' })
  expect(exitCodeOf(new TypeError('x is not a function'))).toBe(70)
  expect(exitCodeOf(new AlmanacError('internal', 'No such method.'))).toBe(70)
  expect(exitCodeOf(new AlmanacError('internal', 'The indexer has stopped.', { retryable: true }))).toBe(75)
  expect(exitCodeOf(new AlmanacError('config_invalid', 'Unknown key.'))).toBe(1)
  expect(exitCodeOf(refused)).toBe(1)
})

describe('a signal', () => {
  /** Sends signals to a program that would go on for a while after the first. */
  function signalled(...program: string[]) {
    const text = `
      const { firstSignal } = await import(${source('./current-process.ts')})
      void firstSignal().then(() => setTimeout(() => process.exit(0), 1_000))
      const pause = ms => new Promise(done => setTimeout(done, ms))
      ${program.join('\n')}
      await pause(5_000)`
    return spawnSync(process.execPath, ['--input-type=module', '-e', text]).status
  }
  const send = (signal: string) => `process.kill(process.pid, '${signal}')`

  test('that comes twice at once is one', () => {
    expect(signalled(send('SIGINT'), 'await pause(20)', send('SIGINT'))).toBe(0)
  })

  test('that comes again later, or another one, ends the process where it stands', () => {
    expect(signalled(send('SIGINT'), 'await pause(600)', send('SIGINT'))).toBe(130)
    expect(signalled(send('SIGTERM'), 'await pause(20)', send('SIGINT'))).toBe(130)
  })
})
