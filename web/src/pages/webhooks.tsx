// The webhooks: which there are, how far each is, and a new one.
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Refusal } from '../keys/key-fields.tsx'
import { Badge } from '../parts/badge.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { Table } from '../parts/table.tsx'
import { spanText } from '../quantities.ts'
import { connection, status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { type Problem, problemOf, type Schemas, service, unreachable } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import { type IssuedWebhook, type Webhook, WebhookSecret } from '../webhooks/webhook-actions.tsx'
import '../keys/keys.css'

export function WebhooksPage() {
  const turn = useSignal(0)
  const isMaking = useSignal(false)
  const issued = useSignal<IssuedWebhook | undefined>(undefined)
  const opener = useRef<HTMLButtonElement>(null)
  const state = useAnswer(`${turn.value}`, signal => service.GET('/webhooks', { signal }))
  const { answered, problem, again } = state.value
  const shown = answered?.data.webhooks
  return (
    <>
      <div class="heading">
        <h1>Webhooks</h1>
        {problem?.status !== 403 && (
          <div class="actions">
            <button
              ref={opener}
              type="button"
              class={isMaking.value || issued.value !== undefined ? undefined : 'primary'}
              disabled={!isMaking.value && connection.value.state === 'lost'}
              onClick={() => {
                isMaking.value = !isMaking.value
              }}
            >
              {isMaking.value ? 'Cancel' : 'New webhook'}
            </button>
          </div>
        )}
      </div>
      {issued.value !== undefined && (
        <WebhookSecret
          issued={issued.value}
          onDone={() => {
            issued.value = undefined
            opener.current?.focus()
          }}
        />
      )}
      {isMaking.value && (
        <Panel id="new-webhook" title="New webhook">
          <NewWebhookForm
            onIssued={made => {
              isMaking.value = false
              issued.value = made
              turn.value++
            }}
          />
        </Panel>
      )}
      <Panel id="webhooks" title="Webhooks" count={shown?.length} flush>
        {problem !== undefined ? (
          <FailureNote problem={problem} what="The webhooks could not be loaded." onRetry={again} />
        ) : shown?.length === 0 ? (
          <EmptyState title="No webhooks">
            A webhook sends transfers of a contract or a wallet to a URL as they happen.
          </EmptyState>
        ) : (
          <Table name="webhooks" columns={['Name', 'State', 'Listens to', { figures: 'Behind' }, 'URL']} coming={2}>
            {shown?.map(each => (
              <WebhookRow key={each.id} of={each} />
            ))}
          </Table>
        )}
      </Panel>
    </>
  )
}

function WebhookRow({ of: webhook }: { of: Webhook }) {
  const { id, name, state, reason, lag_seconds, url } = webhook
  return (
    <tr class={state === 'paused' ? 'past' : undefined}>
      <th scope="row">
        <a href={hrefOf(['webhooks', id])}>{name}</a>
      </th>
      <td>
        <Badge word={state} />
        {reason !== null && <small class="key-id">{reason}</small>}
      </td>
      <td class="second" data-name="listens to">
        {listensText(webhook)}
      </td>
      <td class="number" data-name="behind">
        {lag_seconds === 0 ? <span class="soft">not behind</span> : spanText(lag_seconds)}
      </td>
      <td class="second own-line" data-name="url">
        <code>{url}</code>
      </td>
    </tr>
  )
}

export function listensText({ chain, contract, wallet, token_id, kinds, finality }: Webhook): string {
  const what = kinds.map(kind => (kind === 'erc20_transfer' ? 'ERC-20' : 'NFT')).join(' and ')
  const narrowed = [
    ...(contract === null ? [] : [`of ${contract}`]),
    ...(token_id === null ? [] : [`token ${token_id}`]),
    ...(wallet === null ? [] : [`to and from ${wallet}`]),
    ...(finality === 'final' ? ['once final'] : []),
  ]
  return [`${what} transfers on ${chain}`, ...narrowed].join(', ')
}

type Field = { name: 'name' | 'url' | 'contract' | 'wallet' | 'from_block'; title: string; hint: string }

const fields: readonly Field[] = [
  { name: 'name', title: 'Name', hint: 'shop, alerts …' },
  { name: 'url', title: 'URL', hint: 'https://shop.example/transfers' },
  { name: 'contract', title: 'Contract', hint: '0x…, or all' },
  { name: 'wallet', title: 'Wallet', hint: '0x…, or all' },
  { name: 'from_block', title: 'From block', hint: 'now' },
]

function NewWebhookForm({ onIssued }: { onIssued: (issued: IssuedWebhook) => void }) {
  const problem = useSignal<Problem | undefined>(undefined)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    try {
      const { data, error, response } = await service.POST('/webhooks', { body: readOrder(form) })
      problem.value = data === undefined ? problemOf(error, response) : undefined
      if (data !== undefined) onIssued(data)
    } catch {
      problem.value = unreachable
    }
  }
  const refusalOf = (name: string) => {
    const found = problem.value?.errors.find(({ parameter }) => parameter === name)
    return found && `${name} must be ${found.accepted}`
  }
  const isElsewhere = problem.value !== undefined && !fields.some(({ name }) => refusalOf(name) !== undefined)
  return (
    <form class="operation new-key" onSubmit={submit} noValidate>
      {fields.map(({ name, title, hint }) => (
        <div key={name} class="field">
          <label for={`webhook-${name}`}>{title}</label>
          <input
            id={`webhook-${name}`}
            name={name}
            type="text"
            placeholder={hint}
            autocomplete="off"
            aria-invalid={refusalOf(name) !== undefined}
            aria-describedby={`${name}-refusal`}
          />
          <Refusal name={name} text={refusalOf(name)} />
        </div>
      ))}
      <div class="field">
        <label for="webhook-chain">Chain</label>
        <select id="webhook-chain" name="chain">
          {Object.keys(status.value?.chains ?? {}).map(name => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="webhook-finality">Told</label>
        <select id="webhook-finality" name="finality">
          <option value="seen">as they are seen, with retractions</option>
          <option value="final">once they are final</option>
        </select>
      </div>
      {isElsewhere && <FailureNote problem={problem.value!} />}
      <div class="form-end">
        <button type="submit" class="primary" disabled={connection.value.state === 'lost'}>
          Create webhook
        </button>
      </div>
    </form>
  )
}

/** A field that is left empty is left out. */
function readOrder(form: FormData): Schemas['NewWebhook'] {
  const order: Record<string, unknown> = {}
  for (const [name, value] of form) {
    const text = String(value).trim()
    if (text !== '') order[name] = name === 'from_block' && /^\d+$/.test(text) ? Number(text) : text
  }
  return order as Schemas['NewWebhook']
}
