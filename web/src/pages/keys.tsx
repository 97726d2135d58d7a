// The keys: which there are, what each may do and used, a new one, and the end of one.
import { useSignal } from '@preact/signals'
import type { ComponentProps } from 'preact'
import { useRef } from 'preact/hooks'
import { type Key, KeyButtons, type KeysKnown, Secret } from '../keys/key-actions.tsx'
import { keyNameOf } from '../keys/key-name.ts'
import { expiryText, lastUsedText, successorOf, usedOf } from '../keys/life.ts'
import { NewKeyForm, scopeTexts } from '../keys/new-key-form.tsx'
import { QuotaBar } from '../keys/quota-bar.tsx'
import { Age } from '../parts/age.tsx'
import { Badge } from '../parts/badge.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { Table } from '../parts/table.tsx'
import { countText } from '../quantities.ts'
import { now } from '../state/clock.ts'
import { connection, status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import '../keys/keys.css'

/** `isNew`: with the form of a new key open. */
export function KeysPage({ isNew }: { isNew: boolean }) {
  const turn = useSignal(0)
  const issued = useSignal<Schemas['IssuedKey'] | undefined>(undefined)
  const showsPast = useSignal(false)
  const opened = useSignal<boolean | undefined>(isNew || undefined)
  const opener = useRef<HTMLButtonElement>(null)
  const state = useAnswer(`${turn.value}`, signal => service.GET('/keys', { signal }))
  const { answered, problem, again } = state.value
  const reload = () => {
    turn.value++
  }
  const take = (key: Schemas['IssuedKey']) => {
    issued.value = key
    reload()
  }
  const keys = answered?.data.keys ?? []
  const known: KeysKnown = { keys, own: answered?.data.asked_by ?? '' }
  const active = keys.filter(key => key.state === 'active')
  const isMaking = opened.value ?? (answered !== undefined && active.length === 0)
  return (
    <>
      <div class="heading">
        <h1>Keys</h1>
        {problem?.status !== 403 && (
          <div class="actions">
            <button
              ref={opener}
              type="button"
              class={isMaking || issued.value !== undefined ? undefined : 'primary'}
              disabled={!isMaking && connection.value.state === 'lost'}
              onClick={() => {
                opened.value = !isMaking
              }}
            >
              {isMaking ? 'Cancel' : 'New key'}
            </button>
          </div>
        )}
      </div>
      {issued.value !== undefined && (
        <Secret
          issued={issued.value}
          onUsed={reload}
          onDone={() => {
            issued.value = undefined
            opener.current?.focus()
          }}
        />
      )}
      {isMaking && problem?.status !== 403 && (
        <Panel id="new-key" title="New key">
          <NewKeyForm
            onIssued={key => {
              opened.value = false
              take(key)
            }}
          />
        </Panel>
      )}
      <Panel
        id="keys"
        title="Active keys"
        count={answered && active.length}
        flush
        actions={
          keys.length > active.length && (
            <label class="check">
              <input
                type="checkbox"
                checked={showsPast.value}
                onChange={event => {
                  showsPast.value = event.currentTarget.checked
                }}
              />
              Show {countText(keys.length - active.length)} revoked or expired
            </label>
          )
        }
      >
        {problem !== undefined ? (
          <FailureNote problem={problem} what="The keys could not be loaded." onRetry={again} />
        ) : (
          <KeyTable
            shown={answered && (showsPast.value ? keys : active)}
            known={known}
            fresh={issued.value?.id}
            onRevoked={reload}
            onRotated={take}
          />
        )}
      </Panel>
    </>
  )
}

type Actions = Pick<ComponentProps<typeof KeyButtons>, 'known' | 'onRevoked' | 'onRotated'>

type TableProps = { shown: readonly Key[] | undefined; fresh: string | undefined } & Actions

function KeyTable({ shown, fresh, ...actions }: TableProps) {
  if (shown?.length === 0)
    return <EmptyState title="No active keys">Create one above; its secret is shown once.</EmptyState>
  return (
    <Table
      name="keys"
      columns={[
        'Name',
        'State',
        { figures: 'Today' },
        { figures: 'Rate/s' },
        'Last used',
        'Created',
        'Expires',
        'Scopes',
        { hidden: 'Actions' },
      ]}
      coming={2}
    >
      {shown?.map(key => (
        <KeyRow key={key.id} of={key} isFresh={key.id === fresh} {...actions} />
      ))}
    </Table>
  )
}

function KeyRow({ of: key, isFresh, ...actions }: { of: Key; isFresh: boolean } & Actions) {
  const isActive = key.state === 'active'
  const successor = isActive ? successorOf(key, actions.known.keys) : undefined
  return (
    <tr class={isFresh ? 'fresh' : isActive ? undefined : 'past'}>
      <th scope="row">
        <a href={hrefOf(['keys', key.id])}>{keyNameOf(key.name, status.value)}</a>
        {key.id === actions.known.own && <span class="you"> yours</span>}
        {isFresh && <span class="you"> new</span>}
        <small class="key-id">
          <code>{key.id}</code>
        </small>
      </th>
      <td>
        {successor === undefined ? (
          <Badge word={key.state} />
        ) : (
          <>
            <Badge word="replaced" tone="warn" />
            <small class="key-id">
              by <a href={hrefOf(['keys', successor.id])}>{successor.id}</a>
            </small>
          </>
        )}
      </td>
      <td class="number aside">
        <QuotaBar used={usedOf(key)} quota={key.quota_per_day} />
        <small class="narrow-only soft">{usedOf(key) === 1 ? 'request' : 'requests'} today</small>
      </td>
      <td class="number second" data-name="rate/s">
        {key.rate_per_second === null ? <span class="soft">no limit</span> : countText(key.rate_per_second)}
      </td>
      <td class="second" data-name="last used">
        {lastUsedText(key, now.value)}
      </td>
      <td class="second" data-name="created">
        {key.created_at !== null && <Age moment={Date.parse(key.created_at)} />}
      </td>
      <td class={successor === undefined ? 'second' : 'second warn'} data-name="expires">
        {expiryText(key, now.value)}
      </td>
      <td class="second own-line scopes">
        <ScopeChips scopes={key.scopes} />
      </td>
      <td class="row-actions own-line">{isActive && <KeyButtons of={key} isNamed {...actions} />}</td>
    </tr>
  )
}

function ScopeChips({ scopes }: { scopes: readonly string[] }) {
  const all = Object.keys(scopeTexts)
  const isAll = all.every(scope => scopes.includes(scope))
  return (
    <span class="chips" title={isAll ? all.join(', ') : undefined}>
      {(isAll ? ['all'] : scopes).map(scope => (
        <code key={scope}>{scope}</code>
      ))}
    </span>
  )
}
