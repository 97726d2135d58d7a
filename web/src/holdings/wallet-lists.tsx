// What a wallet holds on one chain, its collections there, and the NFTs that it gave and received.
import { Fact } from '../parts/fact.tsx'
import { countSoFar } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import { askWalletCollections, askWalletNfts, askWalletStats, askWalletTransfers } from './ask.ts'
import { ListSection } from './list-section.tsx'
import { CollectionsTable, NftTable } from './nft-tables.tsx'
import { TransfersTable } from './transfers-table.tsx'
import { isComplete, useHoldings } from './use-holdings.ts'

type Props = { wallet: string; chain: string; cursor: string | undefined }

export function WalletNfts({ wallet, chain, cursor }: Props) {
  const state = useHoldings({ wallet, chain, cursor }, askWalletNfts)
  const { answered, problem } = useHoldings({ wallet, chain }, askWalletStats).value
  const stats = answered?.data
  const soFar = (count: string) => countSoFar(Number(count), isComplete(answered!))
  return (
    <>
      {problem === undefined && (
        <dl class="facts wide">
          <Fact title="NFTs">{stats && soFar(stats.nfts)}</Fact>
          <Fact title="Collections">{stats && soFar(stats.collections)}</Fact>
          <Fact title="NFT transfers">{stats && soFar(stats.nft_transfers.total)}</Fact>
        </dl>
      )}
      <ListSection
        id="nfts"
        title="NFTs"
        state={state.value}
        firstPage={1}
        nothing={`This wallet holds no NFT on ${chain}`}
        rests={{ on: 'chain', chain }}
        whole={{ path: [wallet, 'nft'], query: { chain }, name: `nfts-${chain}-${wallet}` }}
        hrefTo={next => hrefOf(['wallet', wallet, 'nfts'], { chain, cursor: next })}
      >
        {rows => <NftTable rows={rows} chain={chain} />}
      </ListSection>
    </>
  )
}

export function WalletCollections({ wallet, chain, cursor }: Props) {
  const state = useHoldings({ wallet, chain, cursor }, askWalletCollections)
  return (
    <ListSection
      id="collections"
      title="Collections"
      state={state.value}
      firstPage={1}
      nothing={`This wallet holds no NFT on ${chain}`}
      rests={{ on: 'chain', chain }}
      hrefTo={next => hrefOf(['wallet', wallet, 'collections'], { chain, cursor: next })}
    >
      {rows => <CollectionsTable rows={rows} chain={chain} />}
    </ListSection>
  )
}

export function WalletTransfers({ wallet, chain, cursor }: Props) {
  const state = useHoldings({ wallet, chain, cursor }, askWalletTransfers)
  return (
    <ListSection
      id="transfers"
      title="NFT transfers"
      state={state.value}
      firstPage={0}
      nothing={`This wallet never gave or received an NFT on ${chain}`}
      rests={{ on: 'chain', chain }}
      whole={{ path: [wallet, 'nft', 'transfers'], query: { chain }, name: `transfers-${chain}-${wallet}` }}
      hrefTo={next => hrefOf(['wallet', wallet, 'transfers'], { chain, cursor: next })}
    >
      {rows => <TransfersTable rows={rows} chain={chain} withCollections />}
    </ListSection>
  )
}
