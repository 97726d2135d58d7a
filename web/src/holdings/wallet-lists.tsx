// What a wallet holds on one chain, its collections there, and the NFTs and tokens that it gave and received.
import { EmptyState } from '../parts/empty-state.tsx'
import { Fact } from '../parts/fact.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { countSoFar, countText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import {
  askWalletCollections,
  askWalletNfts,
  askWalletStats,
  askWalletTokens,
  askWalletTokenTransfers,
  askWalletTransfers,
} from './ask.ts'
import { Erc20TransfersTable, TokensTable } from './erc20-tables.tsx'
import { isDrawn, NftViews } from './gallery.tsx'
import { ListSection, syncingText } from './list-section.tsx'
import { CollectionsTable, NftTable } from './nft-tables.tsx'
import { TransfersTable } from './transfers-table.tsx'
import { isComplete, useHoldings } from './use-holdings.ts'

type Props = { wallet: string; chain: string; cursor: string | undefined }

export function WalletNfts({ wallet, chain, cursor }: Props) {
  const state = useHoldings({ wallet, chain, cursor }, askWalletNfts, isDrawn)
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
        {rows => <NftViews rows={rows} chain={chain} table={<NftTable rows={rows} chain={chain} />} />}
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

/** All of them are in one answer. */
export function WalletTokens({ wallet, chain }: Props) {
  const { answered, problem, loading, again } = useHoldings({ wallet, chain }, askWalletTokens).value
  const lookedAt = answered?.response.headers.get('x-tokens-looked-at')
  return (
    <Panel id="tokens" title="Tokens" count={answered?.data.length} flush busy={loading}>
      {problem !== undefined && <FailureNote problem={problem} what="Tokens could not be loaded." onRetry={again} />}
      {answered !== undefined && !isComplete(answered) && (
        <p class="note note-warn">
          {lookedAt == null
            ? syncingText({ on: 'tokens', chain })
            : `The wallet touched more tokens than are looked at: these are of the ${countText(Number(lookedAt))} that it touched last.`}
        </p>
      )}
      {problem === undefined && answered?.data.length !== 0 && <TokensTable rows={answered?.data} chain={chain} />}
      {answered?.data.length === 0 && <EmptyState title={`No token of this wallet is known on ${chain}`} />}
    </Panel>
  )
}

export function WalletTokenTransfers({ wallet, chain, cursor }: Props) {
  const state = useHoldings({ wallet, chain, cursor }, askWalletTokenTransfers)
  return (
    <ListSection
      id="token-transfers"
      title="Token transfers"
      state={state.value}
      firstPage={0}
      nothing={`This wallet never gave or received a token on ${chain}`}
      rests={{ on: 'tokens', chain }}
      whole={{ path: [wallet, 'erc20', 'transfers'], query: { chain }, name: `token-transfers-${chain}-${wallet}` }}
      hrefTo={next => hrefOf(['wallet', wallet, 'token-transfers'], { chain, cursor: next })}
    >
      {rows => <Erc20TransfersTable rows={rows} chain={chain} withTokens />}
    </ListSection>
  )
}
