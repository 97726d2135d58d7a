// The grey shape of what is on its way. It shows after a moment, so that a fast answer does not make the page flicker.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

const delayMs = 150

type Props = { rows?: number /** Boxes side by side instead of lines. */; blocks?: number }

export function Skeleton({ rows = 5, blocks }: Props) {
  const isLate = useSignal(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      isLate.value = true
    }, delayMs)
    return () => clearTimeout(timer)
  }, [isLate])
  return (
    <div class={blocks === undefined ? 'skeleton' : 'skeleton blocks'} role="status" aria-busy="true">
      <span class="offstage">Loading…</span>
      {isLate.value && Array.from({ length: blocks ?? rows }, (_, at) => <i key={at} />)}
    </div>
  )
}
