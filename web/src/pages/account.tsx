// One Solana account: what it holds.
import { askPortfolio } from '../holdings/ask.ts'
import { PortfolioTables } from '../holdings/portfolio-tables.tsx'
import { ChainLink } from '../parts/chain-link.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { WholeText } from '../parts/whole-text.tsx'
import { shortText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import { useAnswer } from '../state/use-answer.ts'

export function AccountPage({ network, address }: { network: string; address: string }) {
  const state = useAnswer(JSON.stringify([network, address]), signal => askPortfolio(network, address, signal))
  const { answered, problem, again } = state.value
  return (
    <>
      <div class="heading">
        <h1>Account {shortText(address)}</h1>
      </div>
      <p class="subject">
        <ChainLink name={`solana ${network}`} />
        <WholeText text={address} what="address" />
        <a href={hrefOf(['explore', 'portfolio'], { network, address })}>Ask the API</a>
      </p>
      {problem === undefined ? (
        <PortfolioTables portfolio={answered?.data} />
      ) : (
        <Panel id="account" title="Account">
          <FailureNote problem={problem} what="The account could not be read." onRetry={again} />
        </Panel>
      )}
    </>
  )
}
