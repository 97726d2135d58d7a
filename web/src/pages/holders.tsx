// One collection: who holds its tokens, and how many of each there are.
import { askCollectionStats, askOwners } from '../holdings/ask.ts'
import { ListSection } from '../holdings/list-section.tsx'
import { OwnersTable } from '../holdings/nft-tables.tsx'
import { useHoldings } from '../holdings/use-holdings.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Fact } from '../parts/fact.tsx'
import { Marks, nameText } from '../parts/nft-links.tsx'
import { countText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import { ContractViews } from './contract.tsx'

type Props = { chain: string; address: string; cursor: string | undefined }

export function HoldersPage({ chain, address, cursor }: Props) {
  const state = useHoldings({ chain, contract: address, cursor }, askOwners)
  const stats = useHoldings({ chain, contract: address }, askCollectionStats).value.answered?.data
  const row = state.value.answered?.data.result[0]
  return (
    <>
      <div class="heading">
        <h1>{nameText(row?.name, row?.symbol) ?? 'Contract'}</h1>
        {row !== undefined && <Marks of={row} />}
        <ContractViews chain={chain} address={address} here="holders" />
      </div>
      <p class="subject">
        <span class="soft">{chain}</span> <span class="mono whole">{address}</span>
        <CopyButton text={address} what="address" />
      </p>
      {stats !== undefined && (
        <dl class="facts wide">
          <Fact title="Tokens">{countText(Number(stats.total_tokens))}</Fact>
          <Fact title="Holders">{countText(Number(stats.owners.current))}</Fact>
          <Fact title="Transfers">{countText(Number(stats.transfers.total))}</Fact>
        </dl>
      )}
      <ListSection
        id="holders"
        title="Holders"
        state={state.value}
        firstPage={1}
        nothing="No NFT of this contract has a holder."
        rests={{ on: 'contract', chain }}
        hrefTo={next => hrefOf(['contract', chain, address, 'holders'], { cursor: next })}
      >
        {rows => <OwnersTable rows={rows} chain={chain} />}
      </ListSection>
    </>
  )
}
