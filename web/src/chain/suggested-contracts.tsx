// A chain of which no contract is known: why, and what to do. On demand, that is to ask for one.
import { useSignal } from '@preact/signals'
import { EmptyState } from '../parts/empty-state.tsx'
import { shortText } from '../quantities.ts'
import type { LiveChain } from '../state/live.ts'
import { goTo, hrefOf } from '../state/route.ts'

type Props = {
  name: string
  chain: LiveChain
  suggested: readonly { address: string; label: string | null }[]
}

export function SuggestedContracts({ name, chain, suggested }: Props) {
  if (chain.index !== 'on-demand')
    return (
      <EmptyState title="No NFT transfer was found yet">
        {chain.complete
          ? `Every block of ${name} is indexed.`
          : chain.state === 'stalled'
            ? `${name} is stalled: blocks are indexed once an endpoint answers.`
            : `The history of ${name} is being indexed, newest first.`}
      </EmptyState>
    )
  return (
    <EmptyState
      title="No contract was asked for yet"
      action={<AskForm what="contract" hrefTo={address => hrefOf(['contract', name, address])} />}
    >
      {name} is indexed on demand: the first question about a contract has its whole history indexed, and it is followed
      from then on.
      {suggested.length > 0 && (
        <>
          {' '}
          Try{' '}
          {suggested.map(({ address, label }, at) => (
            <>
              {at > 0 && ', '}
              <a key={address} href={hrefOf(['contract', name, address])} title={address}>
                {label ?? shortText(address)}
              </a>
            </>
          ))}
          .
        </>
      )}
    </EmptyState>
  )
}

/** Opens the page of an address. */
export function AskForm({ what, hrefTo }: { what: string; hrefTo: (address: string) => string }) {
  const problem = useSignal<string | undefined>(undefined)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('address') ?? '').trim()
    if (/^0x[0-9a-f]{40}$/i.test(text)) goTo(hrefTo(text.toLowerCase()))
    else problem.value = 'An address is 0x and 40 hex digits.'
  }
  return (
    <form class="ask-contract" onSubmit={submit}>
      <input
        name="address"
        type="text"
        aria-label={`Address of a ${what}`}
        placeholder="0x…"
        autocomplete="off"
        aria-invalid={problem.value !== undefined}
      />
      <button type="submit">Open {what}</button>
      {problem.value !== undefined && (
        <small class="bad" role="alert">
          {problem.value}
        </small>
      )}
    </form>
  )
}
