// What the thread beside does: reads, checks and decodes answers. It knows neither the network nor the store.
import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../errors.ts'
import type { Failure } from '../proof/verify.ts'
import { decodeRangeBodies, type RangeTask } from './decode-range.ts'
import { buffersOf, columnsOf, type RangeColumns } from './range-columns.ts'
import { type FactsTask, type ReadFacts, readFacts } from './read-facts.ts'

export type ThreadWork = { range: RangeTask } | { facts: FactsTask }
export type ThreadOutcome = { columns: RangeColumns } | { failure: Failure } | { facts: ReadFacts | string }
export type ThreadTask = { task: number; work: ThreadWork }
/** Once, when it can be given work. */
export type ThreadReady = { ready: true }
export type ThreadResult = { task: number } & (ThreadOutcome | { defect: string })

const port = parentPort
if (port === null) throw new Error('This file is a thread of the indexer.')
port.on('message', ({ task, work }: ThreadTask) => {
  try {
    const [outcome, buffers] = outcomeOf(work)
    port.postMessage({ task, ...outcome } satisfies ThreadResult, buffers)
  } catch (error) {
    port.postMessage({ task, defect: messageOf(error) } satisfies ThreadResult)
  }
})

port.postMessage({ ready: true } satisfies ThreadReady)

/** With the buffers that need not be copied on the way. */
function outcomeOf(work: ThreadWork): [ThreadOutcome, ArrayBuffer[]] {
  if ('facts' in work) return [{ facts: readFacts(work.facts) }, []]
  const result = decodeRangeBodies(work.range)
  if (!result.ok) return [{ failure: result.failure }, []]
  const columns = columnsOf(result.range)
  return [{ columns }, buffersOf(columns)]
}
