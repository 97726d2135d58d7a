// One Solana account: what it holds.

import { askPortfolio } from '../explorer/operations.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { PortfolioTables } from '../parts/portfolio-tables.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { hrefOf } from '../state/route.ts'
import { useAnswer } from '../state/use-answer.ts'

export function AccountPage({ network, address }: { network: string; address: string }) {
  const state = useAnswer(JSON.stringify([network, address]), signal => askPortfolio({ network, address }, signal))
  const { answered, problem, loading } = state.value
  return (
    <>
      <div class="heading">
        <h1>Account</h1>
        <span class="soft">Solana {network}</span>
      </div>
      <p class="subject">
        <span class="mono whole">{address}</span>
        <CopyButton text={address} what="address" />
        <a href={hrefOf(['explore', 'portfolio'], { network, address })}>Ask in the explorer</a>
      </p>
      {loading && <Waiting />}
      {problem !== undefined && <FailureNote problem={problem} />}
      {answered !== undefined && <PortfolioTables portfolio={answered.data} />}
    </>
  )
}
