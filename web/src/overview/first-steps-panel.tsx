// The first steps on a new service, until all are done or they are hidden: this browser remembers either.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { CheckIcon } from '../parts/icons.tsx'
import { Panel } from '../parts/panel.tsx'
import type { LiveStatus } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import { firstSteps } from './first-steps.ts'
import './first-steps.css'

const place = 'almanac.first-steps'

export function FirstStepsPanel({ told }: { told: LiveStatus }) {
  const isOver = useSignal(localStorage.getItem(place) !== null)
  const state = useAnswer(isOver.value ? undefined : 'keys', signal => service.GET('/keys', { signal }))
  const { answered, problem } = state.value
  const end = () => {
    localStorage.setItem(place, 'over')
    isOver.value = true
  }
  const others = answered?.data.keys.filter(
    ({ id, state, from_environment: isOperators }) =>
      state === 'active' && !isOperators && id !== answered.data.asked_by,
  )
  const steps = firstSteps({
    told,
    otherKeys: others && { active: others.length, used: others.filter(({ last_used_on: day }) => day !== null).length },
  })
  const done = steps.filter(({ isDone }) => isDone).length
  const isKnown = answered !== undefined || problem !== undefined
  const isDone = isKnown && done === steps.length
  useEffect(() => {
    if (isDone) end()
  }, [isDone])
  if (isOver.value || !isKnown || isDone) return null
  return (
    <Panel
      id="first-steps"
      title="First steps"
      note={`${done} of ${steps.length} done`}
      actions={
        <button type="button" class="small" onClick={end}>
          Hide
        </button>
      }
    >
      <ol class="first-steps">
        {steps.map(({ title, text, page, query, isDone }, at) => (
          <li key={title} class={isDone ? 'done' : undefined}>
            <span class="step-mark" role="img" aria-label={isDone ? 'done' : `step ${at + 1}`}>
              {isDone ? <CheckIcon /> : at + 1}
            </span>
            <div>
              {isDone ? <b>{title}</b> : <a href={hrefOf(page, query)}>{title}</a>}
              <p class="soft">{text}</p>
            </div>
          </li>
        ))}
      </ol>
      {told.sandbox === true && (
        <p class="soft">
          These are local chains to try the service with. For your own, stop it and run <code>almanac init</code> in
          another folder: <a href="/docs/guides/endpoints.html">choose endpoints</a>
        </p>
      )}
    </Panel>
  )
}
