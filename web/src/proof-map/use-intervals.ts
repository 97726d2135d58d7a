// The intervals that the map draws: those of the status, or what is asked for where the status has only the longest.
import type { Coverage } from '../state/live.ts'
import { service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import type { BlockRange, Interval } from './block-range.ts'

type Asked = { chain: string; coverage: Coverage; view: BlockRange; canAsk: boolean }

export function useIntervals({ chain, coverage, view, canAsk }: Asked): readonly Interval[] {
  const isCut = coverage.intervals_total > coverage.intervals.length
  const question = canAsk && isCut ? JSON.stringify([chain, view]) : undefined
  const state = useAnswer(question, signal =>
    service.GET('/chains/{chain}/coverage', { params: { path: { chain }, query: view }, signal }),
  )
  const answer = state.value.answered?.data
  return answer !== undefined && answer.from <= view.from && answer.to >= view.to
    ? answer.intervals
    : coverage.intervals
}
