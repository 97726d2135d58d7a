// Asks the service for a key. Everything that it refuses stands beside its field at once, by the name that the field has.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { FailureNote } from '../parts/failure-note.tsx'
import { connection } from '../state/live.ts'
import { type Problem, problemOf, type Schemas, service, unreachable } from '../state/service.ts'
import {
  type Asked,
  expiry,
  KeyField,
  limitOf,
  limits,
  naming,
  Refusal,
  refusalText,
  useFirstRefused,
} from './key-fields.tsx'

type NewKey = Schemas['NewKey']
type Scope = NewKey['scopes'][number]

const forClients = {
  'nft-transfers': 'NFT transfers',
  'nft-holdings': 'who owns which NFTs',
  'wallet-chains': 'active chains of a wallet',
  balances: 'native balances',
  portfolio: 'Solana accounts and mints',
  erc20: 'ERC-20 tokens',
  changes: 'changes as they happen',
}

const forOperators = {
  webhooks: 'webhooks: have changes sent to a URL',
  ops: 'this console: status and metrics',
  control: 'history: pause and throttle it',
  keys: 'keys: list, make and revoke them',
}

export const scopeTexts: Readonly<Record<Scope, string>> = { ...forClients, ...forOperators }

/** Whoever opened it goes on in its first field. */
export function NewKeyForm({ onIssued }: { onIssued: (key: Schemas['IssuedKey']) => void }) {
  const problem = useSignal<Problem | undefined>(undefined)
  const form = useRef<HTMLFormElement>(null)
  const errors = problem.value?.errors ?? []
  const refusalOf = (name: string) => refusalText(problem.value, name)
  useEffect(() => form.current?.querySelector('input')?.focus(), [])
  useFirstRefused(form, problem.value)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const filled = event.currentTarget as HTMLFormElement
    try {
      const { data, error, response } = await service.POST('/keys', { body: readOrder(new FormData(filled)) })
      problem.value = data === undefined ? problemOf(error, response) : undefined
      if (data === undefined) return
      onIssued(data)
    } catch {
      problem.value = unreachable
    }
  }
  const fieldOf = (asked: Asked) => <KeyField key={asked.name} asked={asked} refusal={refusalOf(asked.name)} />
  return (
    <form ref={form} class="operation new-key" onSubmit={submit} noValidate>
      {fieldOf(naming)}
      {fieldOf(expiry)}
      <fieldset class="field wide scope-groups" aria-describedby="scopes-refusal">
        <legend class="offstage">Scopes</legend>
        <ScopePills title="Scopes for clients" of={forClients} areChosen />
        <ScopePills title="Scopes for operators" of={forOperators} />
        <Refusal name="scopes" text={refusalOf('scopes')} />
      </fieldset>
      <details class="more" open={limits.some(({ name }) => refusalOf(name) !== undefined)}>
        <summary>
          Limits<span class="soft"> of requests and of what is indexed on demand</span>
        </summary>
        <div class="operation-fields">{limits.map(fieldOf)}</div>
      </details>
      {problem.value !== undefined && errors.length === 0 && <FailureNote problem={problem.value} />}
      <div class="form-end">
        <button type="submit" class="primary" disabled={connection.value.state === 'lost'}>
          Create key
        </button>
      </div>
    </form>
  )
}

type PillsProps = { title: string; of: Readonly<Record<string, string>>; areChosen?: boolean }

function ScopePills({ title, of, areChosen = false }: PillsProps) {
  return (
    <fieldset class="pills">
      <legend>{title}</legend>
      {Object.entries(of).map(([name, about]) => (
        <label key={name} class="pill scope">
          <input type="checkbox" name="scopes" value={name} defaultChecked={areChosen} />
          <span>
            <code>{name}</code>
            <small>{about}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** A field that is left empty is left out; one that is no number goes as it is, for the service to refuse. */
function readOrder(form: FormData): NewKey {
  const order: Record<string, unknown> = { name: form.get('name'), scopes: form.getAll('scopes') }
  for (const { name, numeric } of [expiry, ...limits]) {
    const text = String(form.get(name) ?? '').trim()
    if (text !== '') order[name] = numeric ? limitOf(text) : text
  }
  return order as NewKey
}
