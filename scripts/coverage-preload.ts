// Loaded into every thread of the service by `count-files.ts`: tells over IPC which files had a function executed since
// the last question.
import { Session } from 'node:inspector'
import { threadId } from 'node:worker_threads'

export type ExecutedFiles = { threadId: number; files: string[] }

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** Reading resets the counters. A range that starts at 0 is a module's top level. */
function executedFiles(): ExecutedFiles {
  let files: string[] = []
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    files = result
      .filter(({ functions }) => functions.some(({ ranges: [at] }) => at!.startOffset > 0 && at!.count > 0))
      .map(({ url }) => url)
  })
  return { threadId, files }
}

const channel = new BroadcastChannel('count-files')
channel.onmessage = ({ data }: { data: unknown }) => {
  if (data === 'take') channel.postMessage(executedFiles())
  else process.send?.(data)
}
// The service decides when it ends, not this file. Node's own types lack `unref`.
;(channel as unknown as { unref(): void }).unref()

if (threadId === 0) {
  process.on('message', () => {
    process.send?.(executedFiles())
    channel.postMessage('take')
  })
  process.channel?.unref()
}
