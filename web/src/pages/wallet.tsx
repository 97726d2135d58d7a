// One wallet: what it is called, the chains that it is active on, and what it holds on one of them.
import { askWallet } from '../explorer/operations.ts'
import { WalletChainsTable } from '../holdings/wallet-chains-table.tsx'
import { WalletCollections, WalletNfts, WalletTransfers } from '../holdings/wallet-lists.tsx'
import { Badge } from '../parts/badge.tsx'
import { Choices } from '../parts/choices.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { WholeText } from '../parts/whole-text.tsx'
import { shortText } from '../quantities.ts'
import { useLabel } from '../state/labels.ts'
import { status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { useTitle } from '../state/title.ts'
import { useAnswer } from '../state/use-answer.ts'

const lists = {
  nfts: { title: 'NFTs', List: WalletNfts },
  collections: { title: 'Collections', List: WalletCollections },
  transfers: { title: 'NFT transfers', List: WalletTransfers },
} as const

type Props = { address: string; chain: string; list: string; cursor: string | undefined }

export function WalletPage({ address, chain, list, cursor }: Props) {
  const shown = Object.hasOwn(lists, list) ? lists[list as keyof typeof lists] : undefined
  const label = useLabel(chain, address)
  useTitle(label ?? undefined, shown?.title ?? 'wallet')
  const views = Object.entries(lists).map(([name, { title }]) => ({
    title,
    href: hrefOf(['wallet', address, name], { chain }),
    isHere: name === list,
  }))
  const chainsView = { title: 'Chains', href: hrefOf(['wallet', address], { chain }), isHere: shown === undefined }
  return (
    <>
      <div class="heading">
        <h1>{label ?? `Wallet ${shortText(address)}`}</h1>
        {label != null && <Badge word="wallet" tone="quiet" />}
        <Choices label="Views of the wallet" choices={[chainsView, ...views]} />
      </div>
      <p class="subject">
        <WholeText text={address} what="address" />
        <a href={hrefOf(['contract', chain, address])}>View as contract on {chain}</a>
        <a href={hrefOf(['explore', 'wallet'], { address })}>Open in explorer</a>
      </p>
      {shown === undefined ? (
        <ActiveChains address={address} chain={chain} />
      ) : (
        <>
          <div class="subject">
            <Choices label="Chains" choices={chainChoices({ address, chain, list })} />
            <a href={hrefOf(['chain', chain])}>Go to {chain}</a>
          </div>
          <shown.List key={`${list} ${chain}`} wallet={address} chain={chain} cursor={cursor} />
        </>
      )}
    </>
  )
}

/** The chains that are indexed here, and the one that was asked for. */
function chainChoices({ address, chain, list }: Omit<Props, 'cursor'>) {
  const names = new Set([...Object.keys(status.value?.chains ?? {}), chain])
  return [...names].map(name => ({
    title: name,
    href: hrefOf(['wallet', address, list], { chain: name }),
    isHere: name === chain,
  }))
}

function ActiveChains({ address, chain }: { address: string; chain: string }) {
  const state = useAnswer(address, signal => askWallet({ address }, signal))
  const { answered, problem, loading, again } = state.value
  const missing = answered?.response.headers.get('x-index-incomplete-chains')
  const chains = answered?.data.active_chains ?? []
  return (
    <>
      {problem !== undefined && (
        <FailureNote problem={problem} what="The chains of this wallet could not be loaded." onRetry={again} />
      )}
      {problem === undefined && (
        <Panel id="active" title="Active chains" count={answered && chains.length} flush busy={loading}>
          {answered === undefined && <Skeleton rows={4} />}
          {answered !== undefined && chains.length === 0 && (
            <EmptyState
              title="No activity of this wallet is known"
              action={
                <a class="button" href={hrefOf(['wallet', address, 'nfts'], { chain })}>
                  See its NFTs
                </a>
              }
            >
              It sent no transaction that is indexed here. It may still hold NFTs.
            </EmptyState>
          )}
          {chains.length > 0 && <WalletChainsTable address={address} chains={chains} />}
        </Panel>
      )}
      {missing && (
        <p class="note note-warn">
          The history of {missing.split(',').join(', ')} is not complete: the first transaction there is the earliest
          known.
        </p>
      )}
    </>
  )
}
