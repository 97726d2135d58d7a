// The body of a decode thread: parses, checks and decodes answers. It knows neither the network nor the store.
import { parentPort } from 'node:worker_threads'
import { type PlainError, toPlain } from '../../errors.ts'
import type { Failure } from '../proof/failure.ts'
import { decodeRangeBodies, type RangeTask } from './decode-range.ts'
import { buffersOf, columnsOf, type RangeColumns } from './range-columns.ts'
import { type FactsTask, type ReadFacts, readFacts } from './read-facts.ts'

export type WorkerTask = { range: RangeTask } | { facts: FactsTask }
export type WorkerOutcome = { columns: RangeColumns } | { failure: Failure } | { facts: ReadFacts | string }
export type WorkerRequest = { id: number; task: WorkerTask }
/** `ready` comes once, when the thread can take work. */
export type WorkerMessage = { ready: true } | ({ id: number } & (WorkerOutcome | { error: PlainError }))

const port = parentPort
if (port === null) throw new Error('This file runs only as a worker thread of the indexer.')
const post = (message: WorkerMessage, buffers: ArrayBuffer[] = []): void => port.postMessage(message, buffers)

port.on('message', ({ id, task }: WorkerRequest) => {
  try {
    const outcome = outcomeOf(task)
    post({ id, ...outcome }, 'columns' in outcome ? buffersOf(outcome.columns) : [])
  } catch (error) {
    post({ id, error: toPlain(error) })
  }
})
post({ ready: true })

function outcomeOf(task: WorkerTask): WorkerOutcome {
  if ('facts' in task) return { facts: readFacts(task.facts) }
  const result = decodeRangeBodies(task.range)
  return result.ok ? { columns: columnsOf(result.range) } : { failure: result.failure }
}
