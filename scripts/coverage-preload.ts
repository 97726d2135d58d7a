// Loaded into every thread of the service by `count-files.ts`: tells over IPC which files had a function executed since
// the last question.
import { Session } from 'node:inspector'
import { threadId } from 'node:worker_threads'

/** The answer to one question, which has a number: on a busy machine answers may come late. */
export type ExecutedFiles = { question: number; threadId: number; files: string[] }

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** Reading resets the counters. A range that starts at 0 is a module's top level. */
function executedFiles(question: number): ExecutedFiles {
  let files: string[] = []
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    files = result
      .filter(({ functions }) => functions.some(({ ranges: [at] }) => at!.startOffset > 0 && at!.count > 0))
      .map(({ url }) => url)
  })
  return { question, threadId, files }
}

const channel = new BroadcastChannel('count-files')
channel.onmessage = ({ data }: { data: unknown }) => {
  if (typeof data === 'number') channel.postMessage(executedFiles(data))
  else process.send?.(data)
}
// The service decides when it ends, not this file. Node's own types lack `unref`.
;(channel as unknown as { unref(): void }).unref()

if (threadId === 0) {
  process.on('message', (question: number) => {
    process.send?.(executedFiles(question))
    channel.postMessage(question)
  })
  process.channel?.unref()
}
