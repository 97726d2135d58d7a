// Asks the service for a key. What it refuses stands beside the field.
import { useSignal } from '@preact/signals'
import { type Problem, problemOf, type Schemas, service, unreachable } from '../state/service.ts'
import { FailureNote } from './failure-note.tsx'

type NewKey = Schemas['NewKey']
type Scope = NewKey['scopes'][number]

const scopes: Readonly<Record<Scope, string>> = {
  'nft-transfers': 'NFT transfers',
  'nft-holdings': 'who owns which NFTs',
  'wallet-chains': 'wallet chains',
  balances: 'native balances',
  portfolio: 'Solana accounts and mints',
  ops: 'this console: status and metrics',
  control: 'history: pause and throttle it',
  keys: 'keys: list, make and revoke them',
}

const forOperators: ReadonlySet<string> = new Set<Scope>(['ops', 'control', 'keys'])

const limits = [
  { name: 'expires', title: 'Ends', hint: '90d, or 2027-01-31', numeric: false },
  { name: 'rate_per_second', title: 'Requests a second', hint: '50, or none', numeric: true },
  { name: 'quota_per_day', title: 'Requests a day', hint: 'no limit', numeric: true },
  { name: 'index_per_day', title: 'Indexed on demand a day', hint: '500, or none', numeric: true },
  { name: 'index_waiting', title: 'Waiting to be indexed', hint: '20, or none', numeric: true },
] as const

export function NewKeyForm({ onIssued }: { onIssued: (key: Schemas['IssuedKey']) => void }) {
  const problem = useSignal<Problem | undefined>(undefined)
  const refusalOf = (name: string) => (problem.value?.parameter === name ? problem.value.message : undefined)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    try {
      const { data, error, response } = await service.POST('/keys', { body: readOrder(new FormData(form)) })
      problem.value = data === undefined ? problemOf(error, response) : undefined
      if (data === undefined) return
      form.reset()
      onIssued(data)
    } catch {
      problem.value = unreachable
    }
  }
  return (
    <form class="operation" onSubmit={submit}>
      <div class="field wide">
        <label for="key-name">Name</label>
        <input id="key-name" name="name" type="text" required autocomplete="off" aria-describedby="name-refusal" />
        <Refusal name="name" text={refusalOf('name')} />
      </div>
      <div class="field wide">
        <fieldset class="pills">
          <legend>May ask for</legend>
          {Object.entries(scopes).map(([name, about]) => (
            <label key={name} class="pill">
              <input type="checkbox" name="scopes" value={name} defaultChecked={!forOperators.has(name)} />
              {about}
            </label>
          ))}
        </fieldset>
        <Refusal name="scopes" text={refusalOf('scopes')} />
      </div>
      {limits.map(({ name, title, hint, numeric }) => (
        <div class="field" key={name}>
          <label for={`key-${name}`}>{title}</label>
          <input
            id={`key-${name}`}
            name={name}
            type="text"
            inputMode={numeric ? 'numeric' : 'text'}
            placeholder={hint}
            autocomplete="off"
            aria-invalid={refusalOf(name) !== undefined}
            aria-describedby={`${name}-refusal`}
          />
          <Refusal name={name} text={refusalOf(name)} />
        </div>
      ))}
      <div class="form-end">
        <button type="submit" class="primary">
          Make the key
        </button>
      </div>
      {problem.value !== undefined && problem.value.parameter === undefined && <FailureNote problem={problem.value} />}
    </form>
  )
}

function Refusal({ name, text }: { name: string; text: string | undefined }) {
  return (
    <strong class="refusal" id={`${name}-refusal`} role="alert">
      {text}
    </strong>
  )
}

/** A field that is left empty is left out; one that is no number goes as it is, for the service to refuse. */
function readOrder(form: FormData): NewKey {
  const order: Record<string, unknown> = { name: form.get('name'), scopes: form.getAll('scopes') }
  for (const { name, numeric } of limits) {
    const text = String(form.get(name) ?? '').trim()
    if (text !== '')
      order[name] = numeric && text === 'none' ? null : numeric && /^\d+$/.test(text) ? Number(text) : text
  }
  return order as NewKey
}
