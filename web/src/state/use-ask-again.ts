// Asks again for what is not all there yet: soon at first, then ever more seldom, until it is.
import { useEffect, useRef } from 'preact/hooks'

const pause = { firstMs: 1_500, mostMs: 30_000, growth: 1.5 }

/** Each new `answer` that still `isWanting` is followed by another request; one that is whole begins anew. */
export function useAskAgain(isWanting: boolean, answer: object | undefined, again: () => void): void {
  const pauseMs = useRef(pause.firstMs)
  useEffect(() => {
    if (answer === undefined) return
    if (!isWanting) {
      pauseMs.current = pause.firstMs
      return
    }
    const timer = setTimeout(again, pauseMs.current)
    pauseMs.current = Math.min(pause.mostMs, pauseMs.current * pause.growth)
    return () => clearTimeout(timer)
  }, [answer, isWanting])
}
