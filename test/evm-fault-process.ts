// The parent's side of an index process: starts it, asks it, and kills it without a word.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ChainIndexer, ChainSetup } from '../src/evm/index/chain-indexer.ts'
import type { Address } from '../src/model.ts'

export type ChildSetup = Omit<ChainSetup, 'pollMs'> & { storeUrl: string; urls: readonly string[] }
export type ChildQuestion =
  | { ask: 'status' }
  | { ask: 'contract'; address: Address; waitMs: number }
  | { ask: 'wallet'; address: Address; waitMs: number }
export type ChainStatus = Awaited<ReturnType<ChainIndexer['status']>>

const entry = fileURLToPath(new URL('./evm-fault-child.ts', import.meta.url))

export class IndexProcess {
  readonly #child: ChildProcess
  readonly #answers = new Map<number, { resolve: (status: ChainStatus) => void; reject: (error: Error) => void }>()
  readonly ready: Promise<void>
  readonly #ended: Promise<unknown>
  #asked = 0

  constructor(setup: ChildSetup) {
    this.#child = fork(entry, [JSON.stringify(setup)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#ended = once(this.#child, 'exit')
    const started = Promise.withResolvers<void>()
    this.ready = started.promise
    this.ready.catch(() => {})
    this.#child.on('message', (message: { ready?: true; id?: number; status?: ChainStatus }) => {
      if (message.ready === true) started.resolve()
      else this.#answers.get(message.id ?? -1)?.resolve(message.status as ChainStatus)
    })
    this.#child.on('exit', (code, signal) => {
      const error = new Error(`The index process ended with ${code ?? signal}.`)
      started.reject(error)
      for (const { reject } of this.#answers.values()) reject(error)
    })
  }

  get processId(): number {
    return this.#child.pid!
  }

  async ask(question: ChildQuestion): Promise<ChainStatus> {
    await this.ready
    const id = ++this.#asked
    const answer = Promise.withResolvers<ChainStatus>()
    this.#answers.set(id, answer)
    this.#child.send({ ...question, id })
    return await answer.promise.finally(() => this.#answers.delete(id))
  }

  /** As a power failure of the process would: no handler runs, nothing is flushed. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}
