// One wallet: the chains that it is active on.

import { askWallet } from '../explorer/operations.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { WalletChainsTable } from '../parts/wallet-chains-table.tsx'
import { hrefOf } from '../state/route.ts'
import { useAnswer } from '../state/use-answer.ts'

export function WalletPage({ address, chain }: { address: string; chain: string }) {
  const state = useAnswer(address, signal => askWallet({ address }, signal))
  const { answered, problem, loading } = state.value
  const missing = answered?.response.headers.get('x-index-incomplete-chains')
  return (
    <>
      <div class="heading">
        <h1>Wallet</h1>
      </div>
      <p class="subject">
        <span class="mono whole">{address}</span>
        <CopyButton text={address} what="address" />
        <a href={hrefOf(['explore', 'wallet'], { address })}>Ask in the explorer</a>
        <a href={hrefOf(['contract', chain, address])}>As a contract on {chain}</a>
      </p>
      {loading && <Waiting />}
      {problem !== undefined && <FailureNote problem={problem} />}
      {missing && (
        <p class="note note-warn">
          The history of {missing} is not complete: the first transaction there is the earliest known.
        </p>
      )}
      {answered !== undefined && (
        <section aria-labelledby="active">
          <h2 id="active">Active on {answered.data.active_chains.length} chains</h2>
          {answered.data.active_chains.length === 0 ? (
            <p class="note">Nothing of this wallet is known on the indexed chains.</p>
          ) : (
            <WalletChainsTable chains={answered.data.active_chains} />
          )}
        </section>
      )}
    </>
  )
}
