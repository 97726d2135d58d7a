// Starts the thread that indexes and offers it as calls. When the thread dies, calls fail and the reason is told; the service
// goes on answering from what is stored.
import { Worker } from 'node:worker_threads'
import { AlmanacError, type ErrorCode, errorCodes } from '../errors.ts'
import type { Evm } from '../evm/create-evm.ts'
import { indexingMemory } from '../indexing-share.ts'
import type { Log } from '../log.ts'
import { callThread } from '../thread-link.ts'
import type { IndexThreadData } from './index-chains.ts'

/** `write` takes what the thread writes to stderr, where that must not go there by itself. */
export async function startIndexThread(data: IndexThreadData, log: Log, write?: (text: string) => void): Promise<Evm> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./index-thread.${extension}`, import.meta.url), {
    workerData: data,
    resourceLimits: indexingMemory,
    stderr: write !== undefined,
  })
  if (write !== undefined) worker.stderr.setEncoding('utf8').on('data', write)
  let running = false
  const { far, fail } = callThread<Evm>(worker)
  await new Promise<void>((resolve, reject) => {
    worker.on('message', message => {
      if (message !== 'ready') return
      running = true
      resolve()
    })
    worker.on('error', error => {
      const failure = asAlmanacError(error)
      fail(failure)
      reject(failure)
    })
    worker.on('exit', code => {
      const ended = new AlmanacError('internal', 'The indexer has stopped.', {
        retryable: true,
        hint: 'restart the service.',
      })
      fail(ended)
      reject(ended)
      if (running) log.error({ code }, 'The indexing thread ended; requests are answered from what is stored.')
    })
  })
  return {
    status: () => far.status(),
    onDemandChains: () => far.onDemandChains(),
    ensureContract: (...parameters) => far.ensureContract(...parameters),
    ensureWallet: (...parameters) => far.ensureWallet(...parameters),
    transaction: (...parameters) => far.transaction(...parameters),
    metrics: () => far.metrics(),
    async close() {
      running = false
      await far.close()
      await worker.terminate()
    },
  }
}

/** An error loses its class on its way out of a thread, but keeps its fields. */
function asAlmanacError(error: unknown): AlmanacError {
  const { message, code, hint } = error as { message: string; code?: string; hint?: string }
  const known = errorCodes.includes(code as ErrorCode) ? (code as ErrorCode) : 'internal'
  return new AlmanacError(known, message, hint === undefined ? {} : { hint })
}
