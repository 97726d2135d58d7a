// The indexing thread, which hangs where a file tells it to: in the middle of a backfill, say. A number in the file is the
// milliseconds after which it goes on. `status` in it: all but the status is answered while it is there.
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { type IndexThreadData, startThread as startIndexing } from '../src/cli/service/index-chains.ts'
import { standStill } from './trial-thread.ts'

export type HangingData = IndexThreadData & {
  /** Gets a line at each start. */
  diary: string
  /** The thread hangs once this file exists: a single time, or after each start. */
  hangs: { file: string; again: boolean }
}

export async function startThread({ diary, hangs, ...data }: HangingData) {
  appendFileSync(diary, 'started\n')
  const methods = await startIndexing(data)
  let owesStatus = false
  setInterval(() => {
    owesStatus = existsSync(hangs.file) && readFileSync(hangs.file, 'utf8') === 'status'
    if (owesStatus || !existsSync(hangs.file)) return
    const forMs = Number(readFileSync(hangs.file, 'utf8')) || Number.POSITIVE_INFINITY
    if (!hangs.again) rmSync(hangs.file)
    standStill(forMs)
  }, 20)
  const status = (): ReturnType<typeof methods.status> => (owesStatus ? new Promise(() => {}) : methods.status())
  return { ...methods, status }
}
