// Whether the history of a chain is being filled, who paused it and when, and the buttons that pause, resume and
// throttle it. What was ordered shows once the process that fills the history tells of it.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Age } from '../parts/age.tsx'
import { Badge } from '../parts/badge.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { exactText, rateText } from '../quantities.ts'
import type { LiveChain } from '../state/live.ts'
import { type Problem, problemOf, type Schemas, service, unreachable } from '../state/service.ts'

type Backfill = NonNullable<LiveChain['backfill']>
type Order = Schemas['NewBackfillOrder']

export function HistoryControl({ name, chain }: { name: string; chain: LiveChain }) {
  const problem = useSignal<Problem | undefined>(undefined)
  /** What was shown when the last order was given: it has been followed when something else is. */
  const asked = useSignal<string | undefined>(undefined)
  const { backfill } = chain
  if (backfill === undefined) return null
  const isPaused = backfill.state === 'paused'
  /** Hours hold nothing where nothing is left to fill. */
  const isHeld = isPaused || (backfill.state === 'outside_hours' && !chain.complete)
  const shown = JSON.stringify(backfill)
  const isWaiting = asked.value === shown
  /** Where nothing is filled, a pause is for what may come, and stands with the pace. */
  const hasPauseBelow = !isPaused && (chain.complete || isUnasked(chain))
  const button = (
    <button type="button" class="small" disabled={isWaiting} onClick={() => order({ paused: !isPaused })}>
      {isPaused ? 'Resume' : 'Pause'}
    </button>
  )
  async function order(body: Order) {
    problem.value = undefined
    try {
      const path = { chain: name }
      const { error, response } = await service.POST('/chains/{chain}/backfill', { params: { path }, body })
      if (response.ok) asked.value = shown
      else problem.value = problemOf(error, response)
    } catch {
      problem.value = unreachable
    }
  }
  return (
    <Panel
      id="history"
      title="History"
      actions={
        <>
          <small class="soft" role="status">
            {isWaiting && 'Asked for; it takes up to two seconds.'}
          </small>
          <Badge
            word={wordOf(backfill, chain)}
            tone={isHeld || isStuck(chain) || isUnasked(chain) ? 'quiet' : 'good'}
          />
          {!hasPauseBelow && button}
        </>
      }
    >
      <p class="soft">
        {hasPauseBelow && !isPaced(backfill) && doneText(chain)} {isHeld && <State backfill={backfill} />}{' '}
        <Pace backfill={backfill} isFilling={!hasPauseBelow} />
        {isHeld && ' The head is followed, and what requests ask for is indexed.'}
      </p>
      {problem.value !== undefined && <FailureNote problem={problem.value} />}
      <ThrottleForm key={name} backfill={backfill} onOrder={order}>
        {hasPauseBelow && !isUnasked(chain) && button}
      </ThrottleForm>
    </Panel>
  )
}

function wordOf({ state }: Backfill, chain: LiveChain): string {
  const complete = chain.complete && chain.erc20?.complete !== false
  if (state === 'paused') return 'paused'
  if (isUnasked(chain)) return 'nothing asked for yet'
  if (complete) return 'complete'
  if (isStuck(chain)) return 'waits for an endpoint'
  return state === 'outside_hours' ? 'waits for its hours' : 'backfilling'
}

function doneText(chain: LiveChain): string {
  if (isUnasked(chain)) return 'A contract’s history is filled once a request asks for it.'
  return chain.index === 'on-demand' ? 'All that was asked for is indexed.' : 'Every block up to the head is indexed.'
}

/** On demand, there is nothing to fill before the first request for a contract or a token. */
function isUnasked({ index, contracts, erc20 }: LiveChain): boolean {
  return index === 'on-demand' && contracts.total === 0 && (erc20?.contracts ?? 0) === 0
}

function isStuck({ state, complete }: LiveChain): boolean {
  return state === 'stalled' && !complete
}

/** Why history is not filled; nothing where it is. */
export function State({ backfill: { state, paused, opens_at } }: { backfill: Backfill }) {
  if (state === 'outside_hours' && opens_at !== undefined) return <>Goes on at {exactText(Date.parse(opens_at))}.</>
  if (state !== 'paused' || paused === undefined) return null
  if (paused.by === 'settings') return <>Paused by the configuration.</>
  return (
    <>
      Paused by <b>{paused.by}</b>, {paused.at !== undefined && <Age moment={Date.parse(paused.at)} />}.
    </>
  )
}

function isPaced({ hours, blocks_per_second }: Backfill): boolean {
  return hours !== undefined || blocks_per_second !== undefined
}

function Pace({ backfill, isFilling }: { backfill: Backfill; isFilling: boolean }) {
  const { state, hours, blocks_per_second } = backfill
  const rate = blocks_per_second === undefined ? '' : `at most ${rateText(blocks_per_second)} blocks a second`
  const when = hours === undefined ? '' : `from ${hours.replace('-', ' to ')} UTC`
  const pace = [rate, when].filter(Boolean).join(', ')
  if (pace === '' && (state === 'paused' || !isFilling)) return null
  return <>{pace === '' ? 'At full speed.' : `${pace[0]!.toUpperCase()}${pace.slice(1)}.`}</>
}

type ThrottleProps = { backfill: Backfill; onOrder: (order: Order) => void; children: ComponentChildren }

function ThrottleForm({ backfill, onOrder, children }: ThrottleProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const [rate, hours] = [text('blocks_per_second'), text('hours')]
    // One that is no number goes as it is, for the service to refuse.
    const given = { ...(rate && { blocks_per_second: Number(rate) || rate }), ...(hours && { hours }) }
    onOrder({ throttle: Object.keys(given).length === 0 ? null : (given as Order['throttle'] & object) })
  }
  return (
    <details class="more">
      <summary>Change the pace</summary>
      <form class="operation" onSubmit={submit}>
        <div class="field">
          <label for="history-rate">Blocks a second, at most</label>
          <input
            id="history-rate"
            name="blocks_per_second"
            type="text"
            inputMode="decimal"
            placeholder="no limit"
            autocomplete="off"
            defaultValue={backfill.blocks_per_second?.toString() ?? ''}
          />
        </div>
        <div class="field">
          <label for="history-hours">Hours of the day (UTC)</label>
          <input
            id="history-hours"
            name="hours"
            type="text"
            placeholder="22:00-06:00"
            autocomplete="off"
            defaultValue={backfill.hours ?? ''}
          />
        </div>
        <div class="form-end">
          {children}
          <button type="button" onClick={() => onOrder({ throttle: null })}>
            As configured
          </button>
          <button type="submit" class="primary">
            Apply
          </button>
        </div>
      </form>
    </details>
  )
}
