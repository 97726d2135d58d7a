// One wallet: the chains that it is active on, and what it holds on one of them.

import { askWallet } from '../explorer/operations.ts'
import { WalletCollections, WalletNfts, WalletTransfers } from '../holdings/wallet-lists.tsx'
import { Choices } from '../parts/choices.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { WalletChainsTable } from '../parts/wallet-chains-table.tsx'
import { status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { useAnswer } from '../state/use-answer.ts'

const lists = {
  nfts: { title: 'NFTs', List: WalletNfts },
  collections: { title: 'Collections', List: WalletCollections },
  transfers: { title: 'NFT transfers', List: WalletTransfers },
} as const

type Props = { address: string; chain: string; list: string; cursor: string | undefined }

export function WalletPage({ address, chain, list, cursor }: Props) {
  const shown = Object.hasOwn(lists, list) ? lists[list as keyof typeof lists] : undefined
  const views = Object.entries(lists).map(([name, { title }]) => ({
    title,
    href: hrefOf(['wallet', address, name], { chain }),
    isHere: name === list,
  }))
  const chainsView = { title: 'Chains', href: hrefOf(['wallet', address], { chain }), isHere: shown === undefined }
  return (
    <>
      <div class="heading">
        <h1>Wallet</h1>
        <Choices label="Views of the wallet" choices={[chainsView, ...views]} />
      </div>
      <p class="subject">
        <span class="mono whole">{address}</span>
        <CopyButton text={address} what="address" />
        <a href={hrefOf(['explore', 'wallet'], { address })}>Ask in the explorer</a>
        <a href={hrefOf(['contract', chain, address])}>As a contract on {chain}</a>
      </p>
      {shown === undefined ? (
        <ActiveChains address={address} />
      ) : (
        <>
          <Choices label="Chains" choices={chainChoices({ address, chain, list })} />
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

function ActiveChains({ address }: { address: string }) {
  const state = useAnswer(address, signal => askWallet({ address }, signal))
  const { answered, problem, loading } = state.value
  const missing = answered?.response.headers.get('x-index-incomplete-chains')
  return (
    <>
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
            <WalletChainsTable address={address} chains={answered.data.active_chains} />
          )}
        </section>
      )}
    </>
  )
}
