// The thread that reads, checks and decodes answers. It knows neither the network nor the store.
import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../errors.ts'
import type { Failure } from '../proof/verify.ts'
import { type DigestTask, digestBodies } from './digest-bodies.ts'
import { buffersOf, columnsOf, type RangeColumns } from './range-columns.ts'

export type ThreadTask = DigestTask & { task: number }
export type ThreadResult = { task: number } & ({ columns: RangeColumns } | { failure: Failure } | { defect: string })

const port = parentPort
if (port === null) throw new Error('This file is a thread of the indexer.')
port.on('message', ({ task, ...given }: ThreadTask) => {
  const [result, buffers] = outcomeOf(given)
  port.postMessage({ task, ...result }, buffers)
})

type Outcome = ThreadResult extends infer Result ? (Result extends ThreadResult ? Omit<Result, 'task'> : never) : never

function outcomeOf(task: DigestTask): [Outcome, ArrayBuffer[]] {
  try {
    const result = digestBodies(task)
    if (!result.ok) return [{ failure: result.failure }, []]
    const columns = columnsOf(result.range)
    return [{ columns }, buffersOf(columns)]
  } catch (error) {
    return [{ defect: messageOf(error) }, []]
  }
}
