// Asks again for what is not all there yet: soon at first, then ever more seldom, until it is.
import { useEffect, useRef } from 'preact/hooks'
import type { AnswerState } from './use-answer.ts'

const pause = { firstMs: 1_500, mostMs: 30_000, growth: 1.5 }

type Asked = Pick<AnswerState<unknown>, 'answered' | 'problem' | 'again'>

/**
 * Each answer that still `isWanting` is followed by another request, and so is a failure of that one; an answer that is
 * whole begins anew. `triesMax` is for what may never come.
 */
export function useAskAgain(
  isWanting: boolean,
  { answered, problem, again }: Asked,
  triesMax = Number.POSITIVE_INFINITY,
) {
  const run = useRef({ isWanting: false, tries: 0, pauseMs: pause.firstMs }).current
  useEffect(() => {
    if (answered === undefined && problem === undefined) return
    if (problem === undefined) run.isWanting = isWanting
    if (!run.isWanting) Object.assign(run, { tries: 0, pauseMs: pause.firstMs })
    if (!run.isWanting || run.tries >= triesMax) return
    const timer = setTimeout(again, run.pauseMs)
    run.tries++
    run.pauseMs = Math.min(pause.mostMs, run.pauseMs * pause.growth)
    return () => clearTimeout(timer)
  }, [answered, problem, isWanting])
}
