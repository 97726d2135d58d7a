// What can be done with a webhook: pausing, resuming, trying it out, another secret, its end; and the secret that is
// shown once.
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { type Problem, problemOf, type Schemas, service, unreachable } from '../state/service.ts'

export type Webhook = Schemas['Webhook']
export type IssuedWebhook = Schemas['IssuedWebhook']

/** Whoever asked for it goes on with copying it. */
export function WebhookSecret({ issued, onDone }: { issued: IssuedWebhook; onDone: () => void }) {
  const actions = useRef<HTMLDivElement>(null)
  useEffect(() => actions.current?.querySelector('button')?.focus(), [issued.secret])
  return (
    <div class="note note-good" role="status">
      <strong>The secret of {issued.name} is shown only now:</strong>
      <p class="secret">
        <code>{issued.secret}</code>
      </p>
      <p class="soft">The receiver verifies with it what it is sent.</p>
      <div ref={actions} class="actions">
        <CopyButton text={issued.secret} what="secret" isPrimary />
        <button type="button" onClick={onDone}>
          Done
        </button>
      </div>
    </div>
  )
}

type Outcome<Data> = Promise<{ data?: Data; error?: unknown; response: Response }>

type Props = {
  of: Webhook
  onChanged: () => void
  onRotated: (issued: IssuedWebhook) => void
  onDeleted: () => void
}

export function WebhookButtons({ of: webhook, onChanged, onRotated, onDeleted }: Props) {
  const problem = useSignal<Problem | undefined>(undefined)
  const tested = useSignal<string | undefined>(undefined)
  const rotating = useSignal(false)
  const deleting = useSignal(false)
  const path = { id: webhook.id }
  const run = async <Data,>(asked: Outcome<Data>, then: (data: Data) => void) => {
    try {
      const { data, error, response } = await asked
      problem.value = data === undefined ? problemOf(error, response) : undefined
      if (data !== undefined) then(data)
    } catch {
      problem.value = unreachable
    }
  }
  const test = () => {
    tested.value = 'Sending …'
    return run(
      service.POST('/webhooks/{id}/test', { params: { path } }),
      ({ delivered, status, error, milliseconds }) => {
        tested.value = delivered ? `Delivered: ${status} after ${milliseconds} ms` : `Not delivered: ${error}`
      },
    ).finally(() => {
      if (problem.value !== undefined) tested.value = undefined
    })
  }
  const isPaused = webhook.state === 'paused'
  return (
    <>
      <div class="actions">
        {isPaused || webhook.state === 'retrying' ? (
          <button
            type="button"
            class={isPaused ? 'primary' : undefined}
            onClick={() => run(service.POST('/webhooks/{id}/resume', { params: { path }, body: {} }), onChanged)}
          >
            {isPaused ? 'Resume' : 'Try again now'}
          </button>
        ) : null}
        {!isPaused && (
          <button
            type="button"
            onClick={() =>
              run(service.PATCH('/webhooks/{id}', { params: { path }, body: { paused: true } }), onChanged)
            }
          >
            Pause
          </button>
        )}
        <button type="button" onClick={test}>
          Send a test
        </button>
        <button type="button" onClick={() => open(rotating)}>
          Rotate the secret
        </button>
        <button type="button" class="danger" onClick={() => open(deleting)}>
          Delete
        </button>
        <output>{tested.value}</output>
      </div>
      {problem.value !== undefined && <FailureNote problem={problem.value} />}
      {rotating.value && (
        <Dialog title={`Rotate the secret of ${webhook.name}?`} onClose={() => close(rotating)}>
          <p>Both secrets sign for a day: give the receiver the new one until then.</p>
          <div class="form-end">
            <button type="button" onClick={() => close(rotating)}>
              Cancel
            </button>
            <button
              type="button"
              class="primary"
              onClick={() => {
                close(rotating)
                return run(service.POST('/webhooks/{id}/rotation', { params: { path }, body: {} }), onRotated)
              }}
            >
              Rotate it
            </button>
          </div>
        </Dialog>
      )}
      {deleting.value && (
        <Dialog title={`Delete ${webhook.name}?`} onClose={() => close(deleting)}>
          <p>Nothing more is sent to it, and where it was is forgotten.</p>
          <div class="form-end">
            <button type="button" onClick={() => close(deleting)}>
              Keep it
            </button>
            <button
              type="button"
              class="danger"
              onClick={() => {
                close(deleting)
                return run(service.DELETE('/webhooks/{id}', { params: { path } }), onDeleted)
              }}
            >
              Delete it
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

function open(dialog: Signal<boolean>): void {
  dialog.value = true
}

function close(dialog: Signal<boolean>): void {
  dialog.value = false
}
