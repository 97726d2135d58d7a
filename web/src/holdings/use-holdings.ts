// An answer of who owns what. One that is not final yet is asked for again with each new block; the others stand still,
// so that no row moves away under the reader.
import type { Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { status } from '../state/live.ts'
import { type Answered, type AnswerState, useAnswer } from '../state/use-answer.ts'

type Ask<Asked, Data> = (
  asked: Asked,
  signal: AbortSignal,
) => Promise<{ data?: Data; error?: unknown; response: Response }>

export function useHoldings<Asked extends { chain: string }, Data>(
  asked: Asked,
  ask: Ask<Asked, Data>,
  isFinal: (answered: Answered<Data>) => boolean = isComplete,
): Signal<AnswerState<Data>> {
  const head = status.value?.chains[asked.chain]?.head
  const last = useRef({ isFinal: true, head, turn: 0 }).current
  // The first head that is told is not a new one: the question may have been asked before it was known.
  if (!last.isFinal && last.head !== undefined && last.head !== head) last.turn++
  last.head = head
  const state = useAnswer(JSON.stringify([asked, last.turn]), signal => ask(asked, signal))
  const { answered, problem } = state.value
  if (answered !== undefined) last.isFinal = isFinal(answered)
  else if (problem?.mayCome) last.isFinal = false
  return state
}

export function isComplete({ response }: { response: Response }): boolean {
  return response.headers.get('x-index-complete') !== 'false'
}
