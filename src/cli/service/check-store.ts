// What the thread that looks for damage does: it reads the whole file, at low priority, and may be ended at any moment.
import { checkFile } from '../../store/open.ts'
import { yieldToServing } from '../../threads.ts'

export type CheckThread = ReturnType<typeof startThread>

export function startThread(url: string) {
  yieldToServing()
  return { check: () => checkFile(url) }
}
