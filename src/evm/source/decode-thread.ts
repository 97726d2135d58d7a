// What a decode thread does: parses, checks and decodes answers and the blocks of files. It knows neither the network
// nor the store.
import { moving } from '../../threads.ts'
import { type FileTask, OpenFile, readFileRange } from '../files/file-range.ts'
import { proveFile } from '../files/prove-file.ts'
import { decodePortalBodies, type PortalTask } from '../portal/portal-blocks.ts'
import type { DecodedRange } from './chain-source.ts'
import { decodeRangeBodies } from './decode-range.ts'
import { columnsOf } from './range-columns.ts'
import { readFacts } from './read-facts.ts'
import { readLogs } from './read-logs.ts'

export type DecodeThread = ReturnType<typeof startThread>

export function startThread() {
  const files = new OpenFile()
  return {
    range(task: Parameters<typeof decodeRangeBodies>[0]) {
      const result = decodeRangeBodies(task)
      return result.ok ? moved(result.range) : result
    },
    portal(task: PortalTask) {
      const result = decodePortalBodies(task)
      return result.ok ? moved(result.range, { completed: result.completed, tookMs: result.tookMs }) : result
    },
    facts: readFacts,
    logs: readLogs,
    file(task: FileTask) {
      const result = readFileRange(task, files)
      return result.ok ? moved(result.range, { tookMs: result.tookMs }) : result
    },
    proof: proveFile,
  }
}

function moved<Beside extends object>(range: DecodedRange, beside: Beside = {} as Beside) {
  const columns = columnsOf(range)
  return moving({ columns, ...beside }, [columns.places, columns.payloads, columns.activity])
}
