// The drawn part of the map: pieces of evidence, the block under the pointer, the stretch that is being dragged over, and
// the numbers below.
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { countText } from '../quantities.ts'
import {
  type BlockRange,
  blockAt,
  blocksOf,
  chosen,
  type Interval,
  type Piece,
  piecesOf,
  ticksOf,
} from './block-range.ts'

export type Pointed = { block: number; share: number }

type Props = {
  view: BlockRange
  whole: BlockRange
  pieces: readonly Piece[]
  intervals: readonly Interval[]
  isSingle: boolean
  label: string
  pointed: Pointed | undefined
  onPoint: (pointed: Pointed | undefined) => void
  onChoose: (view: BlockRange) => void
  onOpen: (block: number) => void
  onKey: (event: KeyboardEvent) => void
}

/** Less is a click. */
const dragSharesLeast = 0.01
/** More pieces than pixels cannot be seen. */
const piecesMax = 1_500

export function Field({ view, whole, pieces, intervals, isSingle, label, pointed, ...on }: Props) {
  const start = useRef<number | undefined>(undefined)
  const dragged = useSignal<readonly [number, number] | undefined>(undefined)
  const shareOf = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return Math.max(0, Math.min(1, (event.clientX - left) / width))
  }
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return
    const field = event.currentTarget as HTMLElement
    field.setPointerCapture(event.pointerId)
    start.current = shareOf(event)
  }
  const move = (event: PointerEvent) => {
    const share = shareOf(event)
    on.onPoint({ block: blockAt(view, share), share })
    if (start.current !== undefined && Math.abs(share - start.current) >= dragSharesLeast)
      dragged.value = [start.current, share]
  }
  const up = (event: PointerEvent) => {
    if (start.current === undefined) return
    const ends = dragged.value
    start.current = undefined
    dragged.value = undefined
    if (ends !== undefined) on.onChoose(chosen(view, whole, ends))
    else on.onOpen(blockAt(view, shareOf(event)))
  }
  const cancel = () => {
    start.current = undefined
    dragged.value = undefined
  }
  const width = 100 / blocksOf(view)
  return (
    <>
      <div
        class="proof-field"
        role="application"
        aria-label={`${label} Arrow keys move, plus and minus zoom, zero shows all.`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is moved and zoomed by keys
        tabIndex={0}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={cancel}
        onPointerLeave={() => on.onPoint(undefined)}
        onKeyDown={on.onKey}
      >
        <Pieces pieces={pieces} view={view} />
        {isSingle && <span class="proof-blocks" style={{ backgroundSize: `${width}% 100%` }} />}
        {dragged.value !== undefined && <Choice ends={dragged.value} />}
        {pointed !== undefined && <span class="proof-pointer" style={{ left: `${pointed.share * 100}%` }} />}
      </div>
      <Axis view={view} isSingle={isSingle} />
      {blocksOf(view) < blocksOf(whole) && (
        <div class="proof-overview" aria-hidden="true">
          <Pieces pieces={piecesOf(intervals, whole)} view={whole} />
          <span
            class="proof-window"
            style={{
              left: `${((view.from - whole.from) / blocksOf(whole)) * 100}%`,
              width: `${(blocksOf(view) / blocksOf(whole)) * 100}%`,
            }}
          />
        </div>
      )}
    </>
  )
}

function Pieces({ pieces, view }: { pieces: readonly Piece[]; view: BlockRange }) {
  const share = (blocks: number) => `${(blocks / blocksOf(view)) * 100}%`
  return (
    <>
      {pieces.slice(0, piecesMax).map(piece => (
        <i
          key={piece.from}
          class={`evidence evidence-${piece.evidence ?? 'missing'}`}
          style={{ left: `min(${share(piece.from - view.from)}, 100% - 3px)`, width: share(blocksOf(piece)) }}
        />
      ))}
    </>
  )
}

function Choice({ ends: [a, b] }: { ends: readonly [number, number] }) {
  return <span class="proof-choice" style={{ left: `${Math.min(a, b) * 100}%`, width: `${Math.abs(a - b) * 100}%` }} />
}

function Axis({ view, isSingle }: { view: BlockRange; isSingle: boolean }) {
  const most = matchMedia('(max-width: 44rem)').matches ? 3 : 8
  // Of a block that is seen as one the number stands below its middle.
  const placeOf = (tick: number) => ((tick - view.from + (isSingle ? 0.5 : 0)) / blocksOf(view)) * 100
  const roomForLast = most < 8 ? 75 : 90
  const ticks = isSingle
    ? ticksOf(view, most)
    : [...ticksOf(view, most).filter(tick => placeOf(tick) < roomForLast), view.to]
  return (
    <div class="proof-axis" aria-hidden="true">
      {ticks.map(tick => {
        const place = placeOf(tick)
        return (
          <span
            key={tick}
            class={place < 4 ? 'at-start' : place > 96 ? 'at-end' : undefined}
            style={{ left: `${place}%` }}
          >
            {countText(tick)}
          </span>
        )
      })}
    </div>
  )
}
