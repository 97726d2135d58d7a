// One request of a page: under way, answered or failed. A newer request makes an older one's answer void.
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Problem, problemOf, unreachable } from './service.ts'

export type Answered<Data> = { data: Data; response: Response; seconds: number }

export type AnswerState<Data> = {
  loading: boolean
  answered?: Answered<Data> | undefined
  problem?: Problem | undefined
  /** Where the request went, answered or not. */
  url?: string | undefined
}

type Outcome<Data> = { data?: Data; error?: unknown; response: Response }

/** Asks again whenever `question` is another one; undefined asks nothing. */
export function useAnswer<Data>(
  question: string | undefined,
  ask: (signal: AbortSignal) => Promise<Outcome<Data>>,
): Signal<AnswerState<Data>> {
  const state = useSignal<AnswerState<Data>>({ loading: false })
  // The question says all that the request depends on.
  useEffect(() => {
    if (question === undefined) {
      state.value = { loading: false }
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
          state.value = { loading: false, answered: { data, response, seconds }, url }
        else state.value = { loading: false, problem: problemOf(error, response), url }
      },
      () => {
        if (!stop.signal.aborted) state.value = { loading: false, problem: unreachable }
      },
    )
    return () => stop.abort()
  }, [question])
  return state
}
