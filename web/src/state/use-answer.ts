// One request of a page: under way, answered or failed. A newer request makes an older one's answer void.
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { isLive } from './live.ts'
import { type Problem, problemOf, unreachable } from './service.ts'

export type Answered<Data> = { data: Data; response: Response; seconds: number }

export type AnswerState<Data> = {
  loading: boolean
  answered?: Answered<Data> | undefined
  problem?: Problem | undefined
  /** Where the request went, answered or not. */
  url?: string | undefined
  /** Sends the same request once more. */
  again: () => void
}

type Outcome<Data> = { data?: Data; error?: unknown; response: Response }

/** Asks again whenever `question` is another one; undefined asks nothing. An order is never repeated by itself. */
export function useAnswer<Data>(
  question: string | undefined,
  ask: (signal: AbortSignal) => Promise<Outcome<Data>>,
  { isOrder = false } = {},
): Signal<AnswerState<Data>> {
  const turn = useSignal(0)
  const again = () => {
    turn.value++
  }
  const state = useSignal<AnswerState<Data>>({ loading: false, again })
  // The question says all that the request depends on.
  useEffect(() => {
    if (question === undefined) {
      state.value = { loading: false, again }
      return
    }
    const stop = new AbortController()
    const startedMs = performance.now()
    state.value = { ...state.value, loading: true, problem: undefined }
    ask(stop.signal).then(
      ({ data, error, response }) => {
        if (stop.signal.aborted) return
        const { url } = response
        const seconds = (performance.now() - startedMs) / 1_000
        if (data !== undefined && response.ok)
          state.value = { loading: false, again, answered: { data, response, seconds }, url }
        else state.value = { loading: false, again, problem: problemOf(error, response), url }
      },
      () => {
        if (!stop.signal.aborted) state.value = { loading: false, again, problem: unreachable }
      },
    )
    return () => stop.abort()
  }, [question, turn.value])
  // What failed because the service was away is asked for once more when it is heard again.
  const isHeard = isLive.value
  useEffect(() => {
    const { problem } = state.peek()
    if (isHeard && !isOrder && problem !== undefined && (problem.status ?? 500) >= 500) again()
  }, [isHeard])
  return state
}
