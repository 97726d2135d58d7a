// The keys: which there are, what each may do and used, a new one, and the end of one.

import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Age } from '../parts/age.tsx'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { NewKeyForm } from '../parts/new-key-form.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { countText, exactText } from '../quantities.ts'
import { type Problem, problemOf, type Schemas, service, unreachable } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'

type Key = Schemas['Key']

export function KeysPage() {
  const turn = useSignal(0)
  const issued = useSignal<Schemas['IssuedKey'] | undefined>(undefined)
  const revoking = useSignal<Key | undefined>(undefined)
  const state = useAnswer(`${turn.value}`, signal => service.GET('/keys', { signal }))
  const { answered, problem } = state.value
  const reload = () => {
    turn.value++
  }
  return (
    <>
      <div class="heading">
        <h1>Keys</h1>
      </div>
      {issued.value !== undefined && <Secret issued={issued.value} />}
      {problem !== undefined && <FailureNote problem={problem} />}
      {answered !== undefined && <KeyTable keys={answered.data.keys} revoking={revoking} />}
      {problem?.status !== 403 && (
        <section aria-labelledby="new-key">
          <h2 id="new-key">New key</h2>
          <NewKeyForm
            onIssued={key => {
              issued.value = key
              reload()
            }}
          />
        </section>
      )}
      {revoking.value !== undefined && <RevokeDialog revoking={revoking} onDone={reload} />}
    </>
  )
}

function Secret({ issued }: { issued: Schemas['IssuedKey'] }) {
  return (
    <div class="note note-good" role="status">
      <strong>The key {issued.name} is made. Its secret is shown only now:</strong>
      <p class="secret">
        <code>{issued.secret}</code>
        <CopyButton text={issued.secret} what="secret" />
      </p>
    </div>
  )
}

function KeyTable({ keys, revoking }: { keys: readonly Key[]; revoking: Signal<Key | undefined> }) {
  const limit = (value: number | null) => (value === null ? '–' : countText(value))
  return (
    <div class="table-scroll">
      <table class="stacked">
        <TableHead
          columns={[
            'Name',
            'State',
            'May',
            { figures: 'Today' },
            { figures: 'Rate/s' },
            { figures: 'Quota/day' },
            'Made',
            'Ends',
            { hidden: 'Actions' },
          ]}
        />
        <tbody>
          {keys.map(key => (
            <tr key={key.id} class={key.state === 'active' ? undefined : 'past'}>
              <th scope="row" data-title="Name">
                {key.name} <small class="soft mono">{key.id}</small>
              </th>
              <td data-title="State">
                <Badge word={key.state} />
              </td>
              <td data-title="May">{key.scopes.join(', ')}</td>
              <td data-title="Today" class="number">
                {countText(key.used_today)}
              </td>
              <td data-title="Rate/s" class="number">
                {limit(key.rate_per_second)}
              </td>
              <td data-title="Quota/day" class="number">
                {limit(key.quota_per_day)}
              </td>
              <td data-title="Made">{key.created_at !== null && <Age moment={Date.parse(key.created_at)} />}</td>
              <td data-title="Ends">
                {key.expires_at === null ? 'never' : exactText(Date.parse(key.expires_at)).slice(0, 10)}
              </td>
              <td>
                {key.state === 'active' && (
                  <button
                    type="button"
                    class="danger"
                    aria-label={`Revoke ${key.name}`}
                    onClick={() => {
                      revoking.value = key
                    }}
                  >
                    Revoke
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function RevokeDialog({ revoking, onDone }: { revoking: Signal<Key | undefined>; onDone: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const problem = useSignal<Problem | undefined>(undefined)
  const key = revoking.value!
  useEffect(() => dialog.current?.showModal(), [])
  const close = () => {
    revoking.value = undefined
  }
  const revoke = async () => {
    try {
      const { error, response } = await service.DELETE('/keys/{id}', { params: { path: { id: key.id } } })
      if (!response.ok) {
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
    <dialog ref={dialog} aria-labelledby="revoke" onClose={close}>
      <h2 id="revoke">Revoke {key.name}?</h2>
      <p>It stops working within a second, for everybody who uses it, and cannot be brought back.</p>
      {problem.value !== undefined && <FailureNote problem={problem.value} />}
      <div class="form-end">
        <button type="button" onClick={close}>
          Keep it
        </button>
        <button type="button" class="danger" onClick={revoke}>
          Revoke it
        </button>
      </div>
    </dialog>
  )
}
