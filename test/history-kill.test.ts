// A short form of `npm run soak:history`.
import { expect, test } from 'vitest'
import { runKilledHistory } from './history-kill-run.ts'

test('an index from files that is killed goes on where it was, and ends as if it had not been', async () => {
  const { opening, transfers, senders, end } = await runKilledHistory({ seed: 7, kills: 3, blocks: 80 })
  expect(opening + transfers + senders + end).toBe(3)
})
