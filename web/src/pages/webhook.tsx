// One webhook: what it listens to, how far it is, its last deliveries, and what can be done with it.
import { useSignal } from '@preact/signals'
import { Age } from '../parts/age.tsx'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Fact } from '../parts/fact.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Table } from '../parts/table.tsx'
import { countText, spanText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useTitle } from '../state/title.ts'
import { useAnswer } from '../state/use-answer.ts'
import { type IssuedWebhook, WebhookButtons, WebhookSecret } from '../webhooks/webhook-actions.tsx'
import { listensText } from './webhooks.tsx'
import '../keys/keys.css'

type Details = Schemas['WebhookDetails']

export function WebhookPage({ id }: { id: string }) {
  const turn = useSignal(0)
  const issued = useSignal<IssuedWebhook | undefined>(undefined)
  const state = useAnswer(`${turn.value}`, signal =>
    service.GET('/webhooks/{id}', { params: { path: { id } }, signal }),
  )
  const { answered, problem, again } = state.value
  const webhook = answered?.data
  useTitle(webhook?.name, 'webhook')
  const reload = () => {
    turn.value++
  }
  return (
    <>
      <div class="heading">
        <h1>{webhook?.name ?? 'Webhook'}</h1>
        {webhook !== undefined && <Badge word={webhook.state} />}
      </div>
      <p class="subject soft">
        <a href={hrefOf(['webhooks'])}>Webhooks</a>
        <span>
          <code>{id}</code>
          <CopyButton text={id} what="the id" />
        </span>
      </p>
      {issued.value !== undefined && (
        <WebhookSecret
          issued={issued.value}
          onDone={() => {
            issued.value = undefined
          }}
        />
      )}
      {problem !== undefined && problem.status === 404 ? (
        <section class="panel" aria-label="What is known">
          <EmptyState
            title="There is no such webhook"
            action={
              <a class="button" href={hrefOf(['webhooks'])}>
                All webhooks
              </a>
            }
          >
            No webhook has the id <code>{id}</code>, or it is of another key.
          </EmptyState>
        </section>
      ) : problem !== undefined ? (
        <Panel id="webhook" title="Webhook">
          <FailureNote problem={problem} what="The webhook could not be loaded." onRetry={again} />
        </Panel>
      ) : (
        <>
          <Panel id="webhook" title="State">
            {webhook === undefined ? <Skeleton facts={['Listens to', 'Sends to', 'Behind']} /> : <Facts of={webhook} />}
            {webhook !== undefined && (
              <WebhookButtons
                of={webhook}
                onChanged={reload}
                onRotated={made => {
                  issued.value = made
                  reload()
                }}
                onDeleted={() => {
                  location.assign(hrefOf(['webhooks']))
                }}
              />
            )}
          </Panel>
          <Panel id="deliveries" title="Last deliveries" count={webhook?.deliveries.length} flush>
            <Deliveries of={webhook} />
          </Panel>
        </>
      )}
    </>
  )
}

function Facts({ of: webhook }: { of: Details }) {
  const { url, lag_seconds, reason, attempts, next_attempt_at, created_at, key_id, old_secret_until } = webhook
  return (
    <dl class="facts wide">
      <Fact title="Listens to">{listensText(webhook)}</Fact>
      <Fact title="Sends to">
        <code>{url}</code>
      </Fact>
      <Fact title="Behind">{lag_seconds === 0 ? 'not behind' : spanText(lag_seconds)}</Fact>
      {reason !== null && (
        <Fact title="Why">{`${reason}${attempts > 1 ? ` (${countText(attempts)} times)` : ''}`}</Fact>
      )}
      {next_attempt_at !== null && (
        <Fact title="Next attempt">
          <Age moment={Date.parse(next_attempt_at)} />
        </Fact>
      )}
      {old_secret_until !== null && (
        <Fact title="Old secret signs">until {old_secret_until.slice(0, 16).replace('T', ' ')} UTC</Fact>
      )}
      <Fact title="Key">
        <a href={hrefOf(['keys', key_id])}>
          <code>{key_id}</code>
        </a>
      </Fact>
      <Fact title="Created">
        <Age moment={Date.parse(created_at)} />
      </Fact>
    </dl>
  )
}

function Deliveries({ of: webhook }: { of: Details | undefined }) {
  if (webhook?.deliveries.length === 0)
    return <EmptyState title="No deliveries yet">It is sent the next change that it listens to.</EmptyState>
  return (
    <Table name="deliveries" columns={['Sent', 'Answer', { figures: 'Changes' }, { figures: 'ms' }, 'Id']} coming={3}>
      {webhook?.deliveries.map(({ at, id, status, error, changes, milliseconds }) => (
        <tr key={`${at} ${id}`}>
          <th scope="row">
            <Age moment={Date.parse(at)} />
          </th>
          <td>
            <Badge word={status === null ? 'none' : `${status}`} tone={error === null ? 'good' : 'bad'} />
            {error !== null && <small class="key-id">{error}</small>}
          </td>
          <td class="number">{countText(changes)}</td>
          <td class="number second" data-name="ms">
            {countText(milliseconds)}
          </td>
          <td class="second own-line" data-name="id">
            <code>{id}</code>
          </td>
        </tr>
      ))}
    </Table>
  )
}
