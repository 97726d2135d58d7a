// Changing, replacing and ending a key: the buttons, their dialogs, what they warn of, and the secret that is shown once.
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { curlText } from '../explorer/request-text.ts'
import { CodeView } from '../parts/code-view.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { pluralText } from '../quantities.ts'
import { now } from '../state/clock.ts'
import { status } from '../state/live.ts'
import { type Problem, problemOf, type Schemas, service, unreachable } from '../state/service.ts'
import { endSession } from '../state/session.ts'
import { EditDialog } from './edit-key.tsx'
import { keyNameOf } from './key-name.ts'
import { lastUsedText, successorOf, usedOf } from './life.ts'

export type Key = Schemas['Key']

type Rotated = Schemas['RotatedKey']

export type KeysKnown = {
  keys: readonly Key[]
  /** Id of the key that this browser uses. */
  own: string
}

/** What is lost with this key beside the key itself. */
export function warningsOf({ id, state, scopes }: Key, { keys, own }: KeysKnown): string[] {
  const isLast = (scope: string) =>
    state === 'active' &&
    scopes.includes(scope) &&
    keys.filter(key => key.state === 'active' && key.scopes.includes(scope)).length === 1
  return [
    ...(id === own ? ['You are signed in with this key: you will be signed out.'] : []),
    ...(isLast('ops')
      ? [
          'It is the last key with the scope ops: the console, status and metrics cannot be reached until a new one is made with almanac keys create --scopes all.',
        ]
      : []),
  ]
}

type SecretProps = {
  issued: Schemas['IssuedKey']
  onDone: () => void
  /** After a request with the new key. */
  onUsed: () => void
  children?: ComponentChildren
}

/** Whoever asked for it goes on with copying it. */
export function Secret({ issued, onDone, onUsed, children }: SecretProps) {
  const actions = useRef<HTMLDivElement>(null)
  const isCopied = useRef(false)
  const leaving = useSignal<HTMLAnchorElement | undefined>(undefined)
  useEffect(() => actions.current?.querySelector('button')?.focus(), [issued.id])
  useEffect(() => {
    isCopied.current = false
    const ask = (link: HTMLAnchorElement) => {
      leaving.value = link
    }
    return warnBeforeLeaving(() => !isCopied.current, ask)
  }, [issued.id])
  const take = () => {
    isCopied.current = true
  }
  return (
    <div class="note note-good" role="status" onCopy={take}>
      <strong>The key {issued.name} is made. Its secret is shown only now:</strong>
      <p class="secret">
        <code>{issued.secret}</code>
      </p>
      <div ref={actions} class="actions">
        <CopyButton text={issued.secret} what="key" isPrimary onCopied={take} />
        <button type="button" onClick={onDone}>
          Done
        </button>
      </div>
      <p>Try it with a request that every key may send:</p>
      <CodeView text={curlText(tryAddress(), { key: issued.secret })} what="the command" language="shell" />
      <Trial key={issued.id} secret={issued.secret} onUsed={onUsed} />
      {children}
      {leaving.value !== undefined && <LeaveDialog to={leaving} onLeave={take} />}
    </div>
  )
}

function tryAddress(): string {
  return `${location.origin}/api/v2.2/web3/version`
}

/** The service writes each second what keys have used. */
const countedWithinMs = 1_500

/** The same from here: with the new key, and not with the one of this session. */
function Trial({ secret, onUsed }: { secret: string; onUsed: () => void }) {
  const outcome = useSignal<string | undefined>(undefined)
  const send = async () => {
    outcome.value = 'Sending …'
    try {
      const answer = await fetch(tryAddress(), { headers: { 'x-api-key': secret }, cache: 'no-store' })
      outcome.value = answer.ok
        ? `The key works: ${answer.status} ${await answer.text()}`
        : `Refused: ${await answer.text()}`
      setTimeout(onUsed, countedWithinMs)
    } catch {
      outcome.value = unreachable.message
    }
  }
  return (
    <div class="actions">
      <button type="button" onClick={send}>
        Send it from here
      </button>
      <output>{outcome.value}</output>
    </div>
  )
}

/** Asks those who leave the page: by a link with `ask`, with the tab as the browser does. Returns what ends it. */
function warnBeforeLeaving(isWanted: () => boolean, ask: (link: HTMLAnchorElement) => void): () => void {
  const leave = (event: BeforeUnloadEvent) => {
    if (isWanted()) event.preventDefault()
  }
  const follow = (event: MouseEvent) => {
    const link = (event.target as Element).closest?.<HTMLAnchorElement>('a[href]')
    if (link == null || !isWanted() || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    event.stopPropagation()
    ask(link)
  }
  addEventListener('beforeunload', leave)
  addEventListener('click', follow, true)
  return () => {
    removeEventListener('beforeunload', leave)
    removeEventListener('click', follow, true)
  }
}

type LeaveProps = { to: Signal<HTMLAnchorElement | undefined>; onLeave: () => void }

function LeaveDialog({ to, onLeave }: LeaveProps) {
  const stay = () => {
    to.value = undefined
  }
  const leave = () => {
    const link = to.value
    onLeave()
    stay()
    link?.click()
  }
  return (
    <Dialog title="Leave without the secret?" onClose={stay}>
      <p>The secret of the new key was not copied, and is not shown again.</p>
      <div class="form-end">
        <button type="button" onClick={stay}>
          Stay
        </button>
        <button type="button" class="danger" onClick={leave}>
          Leave
        </button>
      </div>
    </Dialog>
  )
}

type ButtonsProps = {
  of: Key
  known: KeysKnown
  /** Where a page has many keys, the buttons name theirs. */
  isNamed?: boolean
  onRevoked: () => void
  onRotated: (rotated: Rotated) => void
  /** Where it is left out, nothing is changed. */
  onChanged?: () => void
}

/** Change, replace or end one key, each in a dialog. */
export function KeyButtons({ of: key, known, isNamed = false, onRevoked, onRotated, onChanged }: ButtonsProps) {
  const editing = useSignal<Key | undefined>(undefined)
  const rotating = useSignal<Key | undefined>(undefined)
  const revoking = useSignal<Key | undefined>(undefined)
  const open = (dialog: Signal<Key | undefined>) => () => {
    dialog.value = key
  }
  const labelOf = (verb: string) => (isNamed ? `${verb} ${key.name}` : undefined)
  if (key.from_environment)
    return (
      <span class="soft">
        {keyNameOf(key.name, status.value) === key.name ? 'Set by the environment' : 'Made with the sandbox'}
        {!isNamed && ': to replace it, set ALMANAC_KEY there and restart'}
      </span>
    )
  return (
    <>
      {onChanged !== undefined && (
        <button type="button" onClick={open(editing)}>
          Edit limits
        </button>
      )}
      {successorOf(key, known.keys) === undefined && (
        <button type="button" aria-label={labelOf('Rotate')} onClick={open(rotating)}>
          Rotate
        </button>
      )}
      <button type="button" class="danger" aria-label={labelOf('Revoke')} onClick={open(revoking)}>
        Revoke
      </button>
      {editing.value !== undefined && <EditDialog of={editing} onDone={onChanged!} />}
      {revoking.value !== undefined && <RevokeDialog of={revoking} known={known} onDone={onRevoked} />}
      {rotating.value !== undefined && <RotateDialog of={rotating} known={known} onDone={onRotated} />}
    </>
  )
}

type DialogProps = { of: Signal<Key | undefined>; known: KeysKnown }

function RevokeDialog({ of, known, onDone }: DialogProps & { onDone: () => void }) {
  const problem = useSignal<Problem | undefined>(undefined)
  const key = of.value!
  const isOwn = key.id === known.own
  const revoke = async () => {
    try {
      const { error, response } = await service.DELETE('/keys/{id}', { params: { path: { id: key.id } } })
      if (!response.ok) {
        problem.value = problemOf(error, response)
        return
      }
      of.value = undefined
      if (isOwn) endSession('You revoked the key that you were signed in with. Sign in with another one.')
      else onDone()
    } catch {
      problem.value = unreachable
    }
  }
  return (
    <Dialog title={`Revoke ${key.name}?`} onClose={() => close(of)}>
      <WhichKey of={key} />
      <p>It stops working within a second, for everybody who uses it, and cannot be brought back.</p>
      <Warnings texts={warningsOf(key, known)} />
      {problem.value !== undefined && <FailureNote problem={problem.value} />}
      <div class="form-end">
        <button type="button" onClick={() => close(of)}>
          Keep it
        </button>
        <button type="button" class="danger" onClick={revoke}>
          Revoke it
        </button>
      </div>
    </Dialog>
  )
}

const graces = [
  { value: '0', title: 'Not at all: revoke it at once' },
  { value: '1h', title: 'For an hour' },
  { value: '24h', title: 'For a day' },
  { value: '7d', title: 'For a week' },
]

function RotateDialog({ of, known, onDone }: DialogProps & { onDone: (rotated: Rotated) => void }) {
  const problem = useSignal<Problem | undefined>(undefined)
  const grace = useSignal('24h')
  const key = of.value!
  const rotate = async () => {
    try {
      const { data, error, response } = await service.POST('/keys/{id}/rotation', {
        params: { path: { id: key.id } },
        body: { grace: grace.value },
      })
      if (data === undefined) {
        problem.value = problemOf(error, response)
        return
      }
      of.value = undefined
      onDone(data)
    } catch {
      problem.value = unreachable
    }
  }
  const own = key.id === known.own ? ['You are signed in with this key: copy the new one, and sign in with it.'] : []
  return (
    <Dialog title={`Rotate ${key.name}?`} onClose={() => close(of)}>
      <WhichKey of={key} />
      <p>A new key with the same name, scopes and limits takes its place. Its secret is shown once.</p>
      <Warnings texts={own} />
      <div class="field">
        <label for="grace">How long the old key works on</label>
        <select
          id="grace"
          value={grace.value}
          onChange={event => {
            grace.value = event.currentTarget.value
          }}
        >
          {graces.map(({ value, title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </div>
      {problem.value !== undefined && <FailureNote problem={problem.value} />}
      <div class="form-end">
        <button type="button" onClick={() => close(of)}>
          Cancel
        </button>
        <button type="button" class="primary" onClick={rotate}>
          Rotate it
        </button>
      </div>
    </Dialog>
  )
}

function close(of: Signal<Key | undefined>): void {
  of.value = undefined
}

/** Keys may have equal names. */
function WhichKey({ of: key }: { of: Key }) {
  return (
    <p class="soft">
      Key <code>{key.id}</code>, last used: {lastUsedText(key, now.value)}, {pluralText(usedOf(key), 'request')} today.
    </p>
  )
}

function Warnings({ texts }: { texts: readonly string[] }) {
  return texts.map(text => (
    <p key={text} class="note note-warn">
      <strong>{text}</strong>
    </p>
  ))
}
