// One key: what it used today of what it may use, its last hour, what was refused, what it may do, its replacement and its end.
import { useSignal } from '@preact/signals'
import { type Key, KeyButtons, type KeysKnown, Secret } from '../keys/key-actions.tsx'
import { keyNameOf } from '../keys/key-name.ts'
import { KeyUse } from '../keys/key-use.tsx'
import { expiryText, lastUsedText, successorOf, usedOf } from '../keys/life.ts'
import { scopeTexts } from '../keys/new-key-form.tsx'
import { Age } from '../parts/age.tsx'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Fact } from '../parts/fact.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Stat } from '../parts/stat.tsx'
import { Plot } from '../plots/plot.tsx'
import { countText, exactText, rateText } from '../quantities.ts'
import { now } from '../state/clock.ts'
import { past, status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useTitle } from '../state/title.ts'
import { useAnswer } from '../state/use-answer.ts'
import '../keys/keys.css'

const figures = {
  used: 'Requests today',
  quota: 'Quota',
  rate: 'Rate',
  indexed: 'Indexed on demand',
} as const

export function KeyPage({ id }: { id: string }) {
  const turn = useSignal(0)
  const issued = useSignal<Schemas['RotatedKey'] | undefined>(undefined)
  const state = useAnswer(`${turn.value}`, signal => service.GET('/keys', { signal }))
  const { answered, problem, again } = state.value
  const key = answered?.data.keys.find(each => each.id === id)
  const known: KeysKnown = { keys: answered?.data.keys ?? [], own: answered?.data.asked_by ?? '' }
  const reload = () => {
    turn.value++
  }
  const take = (rotated: Schemas['RotatedKey']) => {
    issued.value = rotated
    reload()
  }
  const successor = key?.state === 'active' ? successorOf(key, known.keys) : undefined
  const name = key && keyNameOf(key.name, status.value)
  useTitle(name, 'key')
  if (key === undefined) {
    return (
      <>
        <div class="heading">
          <h1>Key</h1>
        </div>
        <Subject id={id} />
        {answered === undefined && problem === undefined && (
          <>
            <Skeleton stats={Object.values(figures)} />
            <LastHour id={id} name={id} />
            <div class="columns even">
              <Panel id="scopes" title="Scopes">
                <Skeleton rows={3} />
              </Panel>
              <Panel id="life" title="Life">
                <Skeleton facts={['Created', 'Expires', 'Last used']} />
              </Panel>
            </div>
          </>
        )}
        {problem !== undefined && (
          <Panel id="key" title="Key">
            <FailureNote problem={problem} what="The key could not be loaded." onRetry={again} />
          </Panel>
        )}
        {answered !== undefined && <NoSuchKey id={id} />}
      </>
    )
  }
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        {successor === undefined ? <Badge word={key.state} /> : <Badge word="replaced" tone="warn" />}
        {key.id === known.own && <Badge word="yours" tone="quiet" />}
        {key.state === 'active' && (
          <div class="actions">
            <KeyButtons of={key} known={known} onRevoked={reload} onRotated={take} onChanged={reload} />
          </div>
        )}
      </div>
      <Subject id={id} />
      {issued.value !== undefined && (
        <Secret
          issued={issued.value}
          onUsed={reload}
          onDone={() => {
            issued.value = undefined
          }}
        >
          <p>
            <a href={hrefOf(['keys', issued.value.id])}>Open the new key</a>
          </p>
        </Secret>
      )}
      {successor !== undefined && (
        <p class="note note-warn">
          Replaced by <a href={hrefOf(['keys', successor.id])}>{successor.id}</a>, expires {expiryText(key, now.value)}.
          Clients that still use this key have to change over until then.
        </p>
      )}
      <Use of={key} />
      <LastHour id={id} name={key.name} />
      <KeyUse id={id} />
      <div class="columns even">
        <Panel id="scopes" title="Scopes" count={key.scopes.length}>
          <ul class="scope-list">
            {key.scopes.map(scope => (
              <li key={scope}>
                <code>{scope}</code> <span class="soft">{scopeTexts[scope as keyof typeof scopeTexts]}</span>
              </li>
            ))}
          </ul>
        </Panel>
        <Panel id="life" title="Life">
          <dl class="facts wide">
            <Moment title="Created" moment={key.created_at} absent="–" />
            <Moment title="Expires" moment={key.expires_at} absent="never" />
            <Fact title="Last used">{lastUsedText(key, now.value)}</Fact>
            {key.replaces_id !== null && (
              <Fact title="Replaces">
                <a href={hrefOf(['keys', key.replaces_id])}>
                  <code>{key.replaces_id}</code>
                </a>
              </Fact>
            )}
            {key.revoked_at !== null && <Moment title="Revoked" moment={key.revoked_at} absent="–" />}
          </dl>
        </Panel>
      </div>
    </>
  )
}

function Subject({ id }: { id: string }) {
  return (
    <p class="subject soft">
      <a href={hrefOf(['keys'])}>Keys</a>
      <span>
        <code>{id}</code>
        <CopyButton text={id} what="the id" />
      </span>
    </p>
  )
}

function NoSuchKey({ id }: { id: string }) {
  return (
    <section class="panel" aria-label="What is known">
      <EmptyState
        title="There is no such key"
        action={
          <a class="button" href={hrefOf(['keys'])}>
            All keys
          </a>
        }
      >
        No key has the id <code>{id}</code>. It may belong to another service.
      </EmptyState>
    </section>
  )
}

function Use({ of: key }: { of: Key }) {
  const { quota_per_day: quota } = key
  // The ten keys that are used most are told live; of the others the count is that of when the page was opened.
  const live = status.value?.api?.keys.find(({ id }) => id === key.id)
  const used = Math.max(usedOf(key), live?.today ?? 0)
  const share = quota === null ? undefined : Math.min(1, used / quota)
  const tone = share === undefined || share < 0.8 ? undefined : share < 1 ? 'warn' : 'bad'
  const limit = (value: number | null) => (value === null ? 'no limit' : countText(value))
  const rate = live === undefined ? 'since midnight UTC' : `${rateText(live.requests_per_second)}/s in the last minute`
  return (
    <dl class="stats">
      <Stat
        label={figures.used}
        value={countText(used)}
        tone={tone}
        note={
          <>
            {rate}
            {share !== undefined && (
              <meter
                class={tone}
                min={0}
                max={1}
                value={share}
                aria-label={`${Math.round(share * 100)} % of the quota`}
              />
            )}
          </>
        }
      />
      <Stat
        label={figures.quota}
        value={limit(quota)}
        {...(quota === null ? {} : { unit: 'a day' })}
        note={leftText(used, quota)}
      />
      <Stat
        label={figures.rate}
        value={limit(key.rate_per_second)}
        {...(key.rate_per_second === null ? {} : { unit: '/s' })}
        note="requests at most"
      />
      <Stat
        label={figures.indexed}
        value={limit(key.index_per_day)}
        {...(key.index_per_day === null ? {} : { unit: 'a day' })}
        note={key.index_waiting === null ? 'any number waiting' : `${countText(key.index_waiting)} waiting at once`}
      />
    </dl>
  )
}

/** The service tells of the keys that are used, so what is missing is none. */
function LastHour({ id, name }: { id: string; name: string }) {
  const { at, lines } = past.value
  const line = lines.find(({ key, measure }) => key === id && measure === 'requests_per_second')
  const shown = line === undefined ? [] : [{ label: name, values: line.values.map(value => value ?? 0) }]
  return (
    <Panel id="past" title="The last hour">
      <Plot title="Requests" unit="per second" at={at} lines={shown} subject={name} />
    </Panel>
  )
}

function leftText(used: number, quota: number | null): string {
  return quota === null ? 'any number a day' : `${countText(Math.max(0, quota - used))} left today`
}

function Moment({ title, moment, absent }: { title: string; moment: string | null; absent: string }) {
  return (
    <Fact title={title}>
      {moment === null ? (
        absent
      ) : (
        <>
          {exactText(Date.parse(moment)).slice(0, 16)} <small class="soft">UTC</small>{' '}
          {Date.parse(moment) < Date.now() && (
            <small class="soft">
              (<Age moment={Date.parse(moment)} />)
            </small>
          )}
        </>
      )}
    </Fact>
  )
}
