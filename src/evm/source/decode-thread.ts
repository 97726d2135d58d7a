// What a decode thread does: parses, checks and decodes answers. It knows neither the network nor the store.
import { moving } from '../../threads.ts'
import { decodePortalBodies, type PortalTask } from '../portal/portal-blocks.ts'
import { decodeRangeBodies } from './decode-range.ts'
import { columnsOf } from './range-columns.ts'
import { readFacts } from './read-facts.ts'
import { readLogs } from './read-logs.ts'

export type DecodeThread = ReturnType<typeof startThread>

export function startThread() {
  return {
    range(task: Parameters<typeof decodeRangeBodies>[0]) {
      const result = decodeRangeBodies(task)
      if (!result.ok) return result
      const columns = columnsOf(result.range)
      return moving({ columns }, [columns.places, columns.payloads, columns.activity])
    },
    portal(task: PortalTask) {
      const result = decodePortalBodies(task)
      if (!result.ok) return result
      const columns = columnsOf(result.range)
      const { completed } = result
      return moving({ columns, completed }, [columns.places, columns.payloads, columns.activity])
    },
    facts: readFacts,
    logs: readLogs,
  }
}
