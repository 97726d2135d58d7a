// Runs commands as their users do, in processes of their own, in a directory of their own with a configuration for
// simulated chains.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openStore } from '../src/store/open.ts'
import { almanacMain, compileCache } from './bundled-service.ts'
import { type Ended, runHere } from './command-here.ts'

const writtenTimeoutMs = 60_000

type Environment = Readonly<Record<string, string>>

/** Where the services say that they listen, in JSON lines and in readable ones. */
export function listeningUrls(written: string): string[] {
  const line = /"url":"([^"]+)","msg":"Server listening"|Server listening \S*?url=(http:[\w.:/[\]-]+)(?=\s|\p{Cc})/gu
  return [...written.matchAll(line)].map(([, json, text]) => (json ?? text)!)
}

/** An empty store, as a first start leaves it: most commands create none. */
export async function makeStore(url: string): Promise<void> {
  await (await openStore(url, { role: 'tool' })).close()
}

/** One command under way. */
export class CommandRun {
  stdout = ''
  stderr = ''
  readonly child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<number | null>

  constructor(command: readonly string[], directory: string, environment: Environment = {}) {
    // A fresh environment: the machine's own must not decide what is tested.
    // Compiled code alone is shared, or every process would spend most of its life on compiling (`vitest.config.ts`).
    const env = { PATH: process.env.PATH, TMPDIR: directory, NODE_COMPILE_CACHE: compileCache, ...environment }
    this.child = spawn(command[0]!, command.slice(1), { cwd: directory, env })
    this.child.stdout.on('data', chunk => {
      this.stdout += chunk
    })
    this.child.stderr.on('data', chunk => {
      this.stderr += chunk
    })
    this.#closed = once(this.child, 'close').then(([code]) => code as number | null)
  }

  async ended(): Promise<Ended> {
    const code = await this.#closed
    return { code, stdout: this.stdout, stderr: this.stderr }
  }

  /** Waits until something is true of the run, such as what it has written. */
  async until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const deadline = performance.now() + writtenTimeoutMs
    // A condition that asks the service often is most of what the service does.
    for (let waitMs = 10; !(await condition()); waitMs = Math.min(2 * waitMs, 200)) {
      if (performance.now() > deadline || this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`${what} did not happen. stderr:\n${this.stderr}`)
      await delay(waitMs)
    }
  }

  /** Waits until the service listens. */
  async listening(): Promise<string> {
    const url = () => listeningUrls(this.stderr + this.stdout)[0]
    await this.until(() => url() !== undefined, 'listening')
    return url()!
  }

  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL')
    await this.#closed
  }
}

/** A working directory whose runs are ended with it. */
export class CommandPlace {
  readonly directory = mkdtempSync(join(tmpdir(), 'almanac-command-'))
  readonly #runs: CommandRun[] = []

  get storeFile(): string {
    return join(this.directory, 'almanac.db')
  }

  get storeUrl(): string {
    return `file:${this.storeFile}`
  }

  configure(chains: Readonly<Record<string, object>>, store?: string, limits?: object): void {
    // JSON is YAML, and quoted addresses stay texts in both.
    const settings = { chains, ...(store && { store }), ...(limits && { limits }) }
    writeFileSync(join(this.directory, 'almanac.yaml'), JSON.stringify(settings))
  }

  /** A folder with the command `almanac` for shells, in place of one that is installed. */
  install(): string {
    const folder = join(this.directory, 'bin')
    mkdirSync(folder)
    const script = `#!/bin/sh\nexec "${process.execPath}" "${almanacMain}" "$@"\n`
    writeFileSync(join(folder, 'almanac'), script, { mode: 0o755 })
    return folder
  }

  begin(parameters: readonly string[], environment?: Environment): CommandRun {
    return this.#begin([process.execPath, almanacMain, ...parameters], environment)
  }

  /** With a terminal in place of the three streams; what the command writes to any of them comes out of stdout. */
  beginOnTerminal(parameters: readonly string[], environment?: Environment, columns = 120): CommandRun {
    const line = [process.execPath, almanacMain, ...parameters].map(word => `'${word}'`).join(' ')
    return this.#begin(['script', '-qefc', `stty cols ${columns}; exec ${line}`, '/dev/null'], environment)
  }

  #begin(command: readonly string[], environment?: Environment): CommandRun {
    const run = new CommandRun(command, this.directory, environment)
    this.#runs.push(run)
    return run
  }

  run(parameters: readonly string[]): Promise<Ended> {
    return this.begin(parameters).ended()
  }

  /** Without a process of its own. */
  runHere(parameters: readonly string[]): Promise<Ended> {
    return runHere(parameters, this.directory)
  }

  async dispose(): Promise<void> {
    for (const run of this.#runs) await run.kill()
    rmSync(this.directory, { recursive: true, force: true })
  }
}
