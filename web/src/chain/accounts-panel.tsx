// The accounts of a Solana network: a field that opens any of them, and those that were read last.
import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { Age } from '../parts/age.tsx'
import { Panel } from '../parts/panel.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { Table } from '../parts/table.tsx'
import { goTo, hrefOf } from '../state/route.ts'
import { service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import './list-tools.css'

const shownMax = 10

export function AccountsPanel({ network }: { network: string }) {
  const id = useId()
  const refusal = useSignal<string | undefined>(undefined)
  const state = useAnswer(network, signal =>
    service.GET('/solana/{network}/accounts', {
      params: { path: { network: network as 'mainnet' }, query: { limit: shownMax } },
      signal,
    }),
  )
  const { answered, problem } = state.value
  const accounts = answered?.data.accounts
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const address = String(new FormData(event.currentTarget as HTMLFormElement).get('address') ?? '').trim()
    if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address)) goTo(hrefOf(['account', network, address]))
    else refusal.value = 'An account is named by its address: 32 to 44 letters and digits, without 0, O, I and l.'
  }
  return (
    <Panel id="accounts" title="Accounts" note={accounts?.length === 0 ? 'none was read yet' : 'read last'} flush>
      <div class="list-tools">
        <form class="wide" onSubmit={submit}>
          <input
            name="address"
            type="text"
            aria-label="Address of an account"
            placeholder="address of an account"
            autocomplete="off"
            spellcheck={false}
            aria-invalid={refusal.value !== undefined}
            aria-describedby={id}
            onInput={() => {
              refusal.value = undefined
            }}
          />
          <button type="submit">Show what it holds</button>
          <Refusal id={id} text={refusal.value} />
        </form>
      </div>
      {problem === undefined && accounts?.length !== 0 && (
        <Table columns={['Account', 'Read']} coming={3}>
          {accounts?.map(({ address, read_at }) => (
            <tr key={address}>
              <td>
                <a class="mono" href={hrefOf(['account', network, address])}>
                  {address}
                </a>
              </td>
              <td class="second">
                <Age moment={Date.parse(read_at)} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  )
}
