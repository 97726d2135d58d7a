// Chooses the moment of a list: a slider from the first transfer to now, a field for a date or a block, and what the
// answer says of that moment.
import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Refusal } from '../parts/refusal.tsx'
import { countText, exactText } from '../quantities.ts'
import { status } from '../state/live.ts'
import type { AnswerState } from '../state/use-answer.ts'
import { type AsOf, asOfPlace, asOfText, type Ends, momentOf, placeOf, refusalOfMoment, trackOf } from './as-of.ts'
import { isComplete } from './use-holdings.ts'

/** The slider must stand still for as long before it asks. */
const settleMs = 300

type Props = {
  chain: string
  asOf: AsOf
  /** Undefined while they are not known: the field works without them. */
  ends: Ends | undefined
  /** They are on their way, so the slider has its place already. */
  isComing: boolean
  state: AnswerState<unknown>
  /** A moment that was slid to replaces the one before in the browser's history. */
  onChoose: (asOf: AsOf, from: 'slider' | 'field') => void
}

export function MomentSlider({ chain, asOf, ends, isComing, state, onChoose }: Props) {
  const id = useId()
  /** Where the slider was moved to and not asked yet. */
  const moved = useSignal<AsOf | undefined>(undefined)
  /** What is wrong with what was typed: it is not asked, and what is shown stays. */
  const refusal = useSignal<string | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const given = JSON.stringify(asOf)
  useEffect(() => {
    moved.value = undefined
    refusal.value = undefined
    return () => clearTimeout(timer.current)
  }, [given])
  const shown = moved.value ?? asOf
  const track = ends && trackOf(ends)
  const slide = (seconds: number) => {
    const next = asOfPlace(seconds, ends!)
    moved.value = next
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChoose(next, 'slider'), settleMs)
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const text = String(new FormData(form).get('moment') ?? '')
    refusal.value = refusalOfMoment(text, ends?.head.block)
    if (refusal.value !== undefined) return
    clearTimeout(timer.current)
    onChoose(asOfText(text), 'field')
    form.reset()
  }
  return (
    <div class="moment">
      <form class="moment-heading" onSubmit={submit}>
        <label for={id}>As of</label>
        <output for={id}>{momentText(shown)}</output>
        <div class="moment-choice">
          <input
            name="moment"
            type="text"
            aria-label="Date (UTC) or block"
            placeholder="date (UTC) or block"
            autocomplete="off"
            aria-invalid={refusal.value !== undefined}
            aria-describedby={`${id}-refusal`}
            onInput={() => {
              refusal.value = undefined
            }}
          />
          <button type="submit">Show</button>
          <button type="button" disabled={isNow(shown)} onClick={() => onChoose({}, 'field')}>
            Now
          </button>
        </div>
        <Refusal id={`${id}-refusal`} text={refusal.value} />
      </form>
      {(track !== undefined || (ends === undefined && isComing)) && (
        <>
          <input
            id={id}
            type="range"
            {...track}
            disabled={track === undefined}
            value={ends && track ? placeOf(shown, ends, track) : 100}
            aria-valuetext={momentText(shown)}
            onInput={event => slide(Number(event.currentTarget.value))}
          />
          <div class="moment-ends soft" aria-hidden="true">
            <span>{ends && exactText(ends.first.seconds * 1_000)}</span>
            <span>now</span>
          </div>
        </>
      )}
      <MomentFacts chain={chain} asOf={asOf} state={state} isMoving={moved.value !== undefined} />
    </div>
  )
}

function isNow({ at_block, at_date }: AsOf): boolean {
  return at_block === undefined && at_date === undefined
}

function momentText(asOf: AsOf): string {
  if (isNow(asOf)) return 'now'
  const { at_block, at_date = '' } = asOf
  if (at_block !== undefined) return `block ${countText(Number(at_block))}`
  const moment = momentOf(at_date)
  return Number.isNaN(moment) ? at_date : exactText(moment)
}

type FactsProps = Pick<Props, 'chain' | 'asOf' | 'state'> & { isMoving: boolean }

/** What the answer rests on, so that nobody takes an unfinished or passing state for a snapshot. */
function MomentFacts({ chain, asOf, state: { answered, loading }, isMoving }: FactsProps) {
  const text = answered?.response.headers.get('x-block-number')
  const block = text == null ? undefined : Number(text)
  const { finalized, head } = status.value?.chains[chain] ?? {}
  if (answered === undefined && !loading) return null
  const isHot = finalized !== undefined && finalized >= 0 && block !== undefined && block > finalized
  return (
    <p class="answer-facts" role="status">
      {answered === undefined ? (
        <span class="skeleton">
          <i />
          <span class="offstage">Loading…</span>
        </span>
      ) : loading || isMoving ? (
        <span>Loading…</span>
      ) : (
        <>
          <span>
            {block === undefined
              ? 'before the first block'
              : `after block ${countText(block)}${isNow(asOf) && (head ?? block) <= block ? ', the newest' : ''}`}
          </span>
          {isComplete(answered) ? (
            <span class="good">complete: every transfer up to it is indexed</span>
          ) : (
            <span class="warn">not complete: transfers up to it may be missing</span>
          )}
          {isHot && <span class="warn">not final: a reorganisation can still change it</span>}
        </>
      )}
    </p>
  )
}
