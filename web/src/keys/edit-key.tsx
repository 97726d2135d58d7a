// Changes the name, the end and the limits of a key. Only what was changed is sent.
import { type Signal, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { connection } from '../state/live.ts'
import { type Problem, problemOf, type Schemas, service, unreachable } from '../state/service.ts'
import { type Asked, expiry, KeyField, limitOf, limits, naming, refusalText, useFirstRefused } from './key-fields.tsx'

type Key = Schemas['Key']

const never = 'never'

const asked: readonly Asked[] = [
  naming,
  { ...expiry, help: 'Such as 90d or 2027-01-31; or never.' },
  ...limits.map(limit => ({ ...limit, hint: 'none', help: 'none lifts it.' })),
]

/** Undefined closes it. */
export function EditDialog({ of, onDone }: { of: Signal<Key | undefined>; onDone: () => void }) {
  const problem = useSignal<Problem | undefined>(undefined)
  const form = useRef<HTMLFormElement>(null)
  const key = of.value!
  const before = textsOf(key)
  useFirstRefused(form, problem.value)
  const close = () => {
    of.value = undefined
  }
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const change = changeOf(before, new FormData(event.currentTarget as HTMLFormElement))
    try {
      const { data, error, response } = await service.POST('/keys/{id}', {
        params: { path: { id: key.id } },
        body: change,
      })
      if (data === undefined) {
        problem.value = problemOf(error, response)
        return
      }
      close()
      onDone()
    } catch {
      problem.value = unreachable
    }
  }
  return (
    <Dialog title={`Limits of ${key.name}`} onClose={close}>
      <form ref={form} onSubmit={submit} noValidate>
        <div class="edit-key">
          {asked.map(each => (
            <KeyField
              key={each.name}
              asked={each}
              value={before[each.name]!}
              refusal={refusalText(problem.value, each.name)}
            />
          ))}
        </div>
        <p class="soft">They hold in every process within a second.</p>
        {problem.value !== undefined && problem.value.errors.length === 0 && <FailureNote problem={problem.value} />}
        <div class="form-end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={connection.value.state === 'lost'}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function textsOf(key: Key): Readonly<Record<string, string>> {
  const ofLimits = limits.map(({ name }) => [name, String(key[name as keyof Key] ?? 'none')])
  return { name: key.name, expires: key.expires_at ?? never, ...Object.fromEntries(ofLimits) }
}

function changeOf(before: Readonly<Record<string, string>>, form: FormData): Schemas['KeyChange'] {
  const change: Record<string, unknown> = {}
  for (const { name, numeric } of asked) {
    const text = String(form.get(name) ?? '').trim()
    if (text === before[name]) continue
    if (numeric) change[name] = limitOf(text)
    else change[name] = name === 'expires' && (text === never || text === '') ? null : text
  }
  return change as Schemas['KeyChange']
}
