// Finds the first block at which something became true and stayed so, asking for many blocks in one batch. Knows no RPC.
import { AlmanacError } from '../../errors.ts'
import type { Interval } from '../../model.ts'

/** Answers, for each block of the list, whether it holds there. Where it turns false again further up, nothing is found. */
export type HoldsAt = (blocks: readonly number[]) => Promise<readonly boolean[]>

// Fifteen questions a batch narrow a range sixteenfold: 20 million blocks in seven batches instead of 25 calls in turn.
const questionsPerBatch = 15

/** The lowest block of the interval where it holds; undefined where it does not hold even at the end. */
export async function firstBlockWhere(holdsAt: HoldsAt, { from, to }: Interval): Promise<number | undefined> {
  if (from > to) return undefined
  const [atEnd] = await holdsAt([to])
  if (atEnd !== true) return undefined
  let low = from
  let high = to
  while (low < high) {
    const questions = spread({ from: low, to: high - 1 })
    const answers = await holdsAt(questions)
    const firstTrue = answers.indexOf(true)
    if (firstTrue !== -1 && answers.includes(false, firstTrue)) {
      throw new AlmanacError('upstream_invalid', 'The answers for several blocks contradict each other.', {
        retryable: true,
      })
    }
    if (firstTrue === -1) low = (questions.at(-1) ?? low) + 1
    else {
      high = questions[firstTrue] ?? high
      if (firstTrue > 0) low = (questions[firstTrue - 1] ?? low) + 1
    }
  }
  return low
}

/** Up to `questionsPerBatch` blocks that cut the interval into even parts. */
function spread({ from, to }: Interval): number[] {
  const blocks = to - from + 1
  const count = Math.min(questionsPerBatch, blocks)
  const list: number[] = []
  for (let index = 1; index <= count; index++) list.push(from + Math.floor((blocks * index) / (count + 1)))
  return [...new Set(list.map(block => Math.min(block, to)))]
}
