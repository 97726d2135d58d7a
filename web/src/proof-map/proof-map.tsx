// The evidence of a chain or a contract as a map over its blocks, which is zoomed down to single blocks by wheel, drag,
// buttons and keys. A sentence and a table say the same in words.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { countText } from '../quantities.ts'
import type { Coverage } from '../state/live.ts'
import { goTo, hrefOf } from '../state/route.ts'
import { type BlockRange, blocksOf, moved, pieceAt, piecesOf, within, zoomed } from './block-range.ts'
import { coverageText, EvidenceLegend } from './coverage-bar.tsx'
import { Field, type Pointed } from './field.tsx'
import { ProofText, pieceText } from './proof-text.tsx'
import { useIntervals } from './use-intervals.ts'
import './proof-map.css'

type Props = {
  chain: string
  coverage: Coverage
  from: number
  head: number
  /** What is covered: the chain, or a contract. */
  subject: string
  /** What the status leaves out is asked for. */
  canAsk?: boolean
}

/** Up to this many a block can be told from the next one, and be clicked. */
const singleBlocksMax = 120
const nearer = 0.5

export function ProofMap({ chain, coverage, from, head, subject, canAsk = false }: Props) {
  const whole = { from, to: Math.max(from, head) }
  /** Undefined: all of it, as it grows. */
  const chosenRange = useSignal<BlockRange | undefined>(undefined)
  const pointed = useSignal<Pointed | undefined>(undefined)
  const view = chosenRange.value === undefined ? whole : within(chosenRange.value, whole)
  const show = (next: BlockRange) => {
    chosenRange.value = blocksOf(next) >= blocksOf(whole) ? undefined : next
  }
  const intervals = useIntervals({ chain, coverage, view, canAsk })
  const pieces = piecesOf(intervals, view)
  const isSingle = blocksOf(view) <= singleBlocksMax
  const keys: Record<string, () => BlockRange> = {
    '+': () => zoomed(view, whole, { by: nearer }),
    '=': () => zoomed(view, whole, { by: nearer }),
    '-': () => zoomed(view, whole, { by: 1 / nearer }),
    ArrowLeft: () => moved(view, whole, -0.25),
    ArrowRight: () => moved(view, whole, 0.25),
    Home: () => within({ from, to: from + blocksOf(view) - 1 }, whole),
    End: () => within({ from: whole.to - blocksOf(view) + 1, to: whole.to }, whole),
    '0': () => whole,
    Escape: () => whole,
  }
  const press = (event: KeyboardEvent) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key]
    if (act === undefined) return
    event.preventDefault()
    show(act())
  }
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef({ view, whole, show })
  latest.current = { view, whole, show }
  // The page must not scroll meanwhile, which only a listener of our own can say. Where the map is not in use, it scrolls.
  useEffect(() => {
    const field = host.current!.querySelector<HTMLElement>('.proof-field')!
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && !field.matches(':focus')) return
      event.preventDefault()
      const { left, width } = field.getBoundingClientRect()
      const now = latest.current
      const share = Math.max(0, Math.min(1, (event.clientX - left) / width))
      const isAside = Math.abs(event.deltaX) > Math.abs(event.deltaY)
      if (isAside) now.show(moved(now.view, now.whole, event.deltaX / width))
      else now.show(zoomed(now.view, now.whole, { by: event.deltaY < 0 ? nearer : 1 / nearer, share }))
    }
    field.addEventListener('wheel', turn, { passive: false })
    return () => field.removeEventListener('wheel', turn)
  }, [])
  const { block } = pointed.value ?? {}
  return (
    <div class="proof-map" ref={host}>
      <div class="proof-heading">
        <EvidenceLegend only={[...new Set(pieces.map(({ evidence }) => evidence))]} />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would stand among the headings as a form */}
        <div class="proof-buttons" role="group" aria-label={`Zoom the evidence of ${subject}`}>
          <MapButton name="Older blocks" sign="←" isOff={view.from === from} onPress={() => show(keys.ArrowLeft!())} />
          <MapButton
            name="Newer blocks"
            sign="→"
            isOff={view.to === whole.to}
            onPress={() => show(keys.ArrowRight!())}
          />
          <MapButton
            name="Zoom out"
            sign="−"
            isOff={blocksOf(view) >= blocksOf(whole)}
            onPress={() => show(keys['-']!())}
          />
          <MapButton name="Zoom in" sign="+" isOff={blocksOf(view) <= 8} onPress={() => show(keys['+']!())} />
          <MapButton name="All blocks" sign="All" isOff={chosenRange.value === undefined} onPress={() => show(whole)} />
        </div>
      </div>
      <Field
        {...{ view, whole, pieces, isSingle, intervals }}
        label={`${coverageText({ coverage, from, head, subject })} ${viewText(view)}`}
        pointed={pointed.value}
        onPoint={next => {
          pointed.value = next
        }}
        onChoose={show}
        onOpen={number => {
          if (isSingle) goTo(hrefOf(['block', chain, `${number}`]))
          else show(zoomed(view, whole, { by: nearer / 4, share: (number - view.from) / blocksOf(view) }))
        }}
        onKey={press}
      />
      <p class="proof-reading">
        {block === undefined ? (
          <span class="soft">
            {viewText(view)} Drag over a range, {canHover ? 'use + and −, or scroll with Ctrl' : 'or use + and −,'} to
            come nearer{isSingle && '; click a block to open it'}.
          </span>
        ) : (
          <>
            Block <b>{countText(block)}</b> · {pieceText(pieceAt(pieces, block))}
          </>
        )}
      </p>
      <ProofText pieces={pieces} chain={chain} view={view} />
      {coverage.intervals_total > coverage.intervals.length && !canAsk && (
        <p class="soft">
          The {countText(coverage.intervals.length)} longest of {countText(coverage.intervals_total)} ranges are drawn.
        </p>
      )}
    </div>
  )
}

/** A finger has no wheel. */
const canHover = matchMedia('(hover: hover)').matches

function viewText(view: BlockRange): string {
  return `Blocks ${countText(view.from)} to ${countText(view.to)} are shown.`
}

type ButtonProps = { name: string; sign: string; isOff: boolean; onPress: () => void }

function MapButton({ name, sign, isOff, onPress }: ButtonProps) {
  return (
    <button type="button" class="small" aria-label={name} title={name} disabled={isOff} onClick={onPress}>
      {sign}
    </button>
  )
}
