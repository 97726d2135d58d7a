// One wallet: what it is called, the chains that it is active on, and what it holds on one of them.
import { askWalletChains } from '../holdings/ask.ts'
import { Erc20TransfersTable, TokensTable } from '../holdings/erc20-tables.tsx'
import { CollectionsTable, NftTable } from '../holdings/nft-tables.tsx'
import { TransfersTable } from '../holdings/transfers-table.tsx'
import { WalletChainsTable } from '../holdings/wallet-chains-table.tsx'
import { WalletFigures } from '../holdings/wallet-figures.tsx'
import {
  WalletCollections,
  WalletNfts,
  WalletTokens,
  WalletTokenTransfers,
  WalletTransfers,
} from '../holdings/wallet-lists.tsx'
import { Badge } from '../parts/badge.tsx'
import { Choices } from '../parts/choices.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { NoAddress } from '../parts/no-address.tsx'
import { Panel } from '../parts/panel.tsx'
import { WholeText } from '../parts/whole-text.tsx'
import { shortText } from '../quantities.ts'
import { useLabel } from '../state/labels.ts'
import { firstChain, status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { useTitle } from '../state/title.ts'
import { type AnswerState, useAnswer } from '../state/use-answer.ts'

type WalletChains = Schemas['WalletChains']['active_chains']

const lists = {
  nfts: { title: 'NFTs', List: WalletNfts, Rows: NftTable },
  collections: { title: 'Collections', List: WalletCollections, Rows: CollectionsTable },
  transfers: { title: 'NFT transfers', List: WalletTransfers, Rows: TransfersTable },
  tokens: { title: 'Tokens', List: WalletTokens, Rows: TokensTable },
  'token-transfers': { title: 'Token transfers', List: WalletTokenTransfers, Rows: Erc20TransfersTable },
} as const

type Props = { address: string; chain: string | undefined; list: string; cursor: string | undefined }

export function WalletPage({ address, chain: named, list, cursor }: Props) {
  const state = useAnswer(address, signal => askWalletChains(address, signal)).value
  const active = activeIn(state.answered?.data.active_chains ?? [])
  // Where it was never active it would most likely hold nothing.
  const isKnown = state.answered !== undefined || state.problem !== undefined
  const chain = named ?? active[0] ?? (isKnown ? firstChain() : undefined)
  const shown = Object.hasOwn(lists, list) ? lists[list as keyof typeof lists] : undefined
  const label = useLabel(chain ?? '', address, chain === undefined ? null : undefined)
  useTitle(label ?? undefined, shown?.title ?? 'wallet')
  const hrefTo = (...view: string[]) => hrefOf(['wallet', address, ...view], { chain: named })
  const views = Object.entries(lists).map(([name, { title }]) => ({
    ...{ title, href: hrefTo(name), isHere: name === list },
  }))
  // Nothing else on the page could be of an address that is none.
  if (state.problem?.parameter === 'address')
    return <NoAddress of="a wallet" address={address} problem={state.problem} />
  return (
    <>
      <header class="about">
        <div class="heading">
          <h1>{label ?? `Wallet ${shortText(address)}`}</h1>
          {label != null && <Badge word="wallet" tone="quiet" />}
        </div>
        <p class="subject">
          <WholeText text={address} what="address" />
          {chain !== undefined && <a href={hrefOf(['contract', chain, address])}>View as contract on {chain}</a>}
          <a href={hrefOf(['explore', 'wallet'], { address })}>Ask the API</a>
        </p>
        <Choices
          label="Views of the wallet"
          choices={[{ title: 'Chains', href: hrefTo(), isHere: shown === undefined }, ...views]}
        />
      </header>
      {shown === undefined ? (
        <>
          {isKnown && <WalletFigures wallet={address} chains={chainsOf(active)} />}
          <ActiveChains address={address} state={state} />
        </>
      ) : chain === undefined ? (
        <Panel id={list} title={shown.title} flush>
          <shown.Rows rows={undefined} chain="" withCollections />
        </Panel>
      ) : (
        <>
          <div class="subject">
            <Choices label="Chains" choices={chainChoices({ address, chain, list }, active)} />
            <a href={hrefOf(['chain', chain])}>Go to {chain}</a>
          </div>
          <shown.List key={`${list} ${chain}`} wallet={address} chain={chain} cursor={cursor} />
        </>
      )}
    </>
  )
}

function activeIn(chains: WalletChains): string[] {
  return chains.filter(({ first_transaction }) => first_transaction !== null).map(({ chain }) => chain)
}

/** Those where it is active, then the others that are indexed here. */
function chainsOf(active: readonly string[]): string[] {
  return [...new Set([...active, ...Object.keys(status.value?.chains ?? {})])]
}

type Shown = { address: string; chain: string; list: string }

/** With the one that was asked for. */
function chainChoices({ address, chain, list }: Shown, active: readonly string[]) {
  return [...new Set([...chainsOf(active), chain])].map(name => ({
    title: name,
    href: hrefOf(['wallet', address, list], { chain: name }),
    isHere: name === chain,
  }))
}

type ActiveProps = { address: string; state: AnswerState<Schemas['WalletChains']> }

function ActiveChains({ address, state: { answered, problem, loading, again } }: ActiveProps) {
  const missing = answered?.response.headers.get('x-index-incomplete-chains')?.split(',') ?? []
  const chains = answered?.data.active_chains
  const isListed = (name: string) => chains?.some(({ chain }) => chain === name) === true
  const listed = missing.filter(isListed)
  const others = missing.filter(name => !isListed(name))
  return (
    <>
      <Panel id="active" title="Active chains" count={chains?.length} flush busy={loading}>
        {problem !== undefined && (
          <FailureNote problem={problem} what="The chains of this wallet could not be loaded." onRetry={again} />
        )}
        {chains?.length === 0 && (
          <EmptyState
            title="No activity of this wallet is known"
            action={
              <a class="button" href={hrefOf(['wallet', address, 'nfts'])}>
                See its NFTs
              </a>
            }
          >
            It sent no transaction that is indexed here. It may still hold NFTs.
            {missing.length > 0 && ` The history of ${missing.join(', ')} is not complete.`}
          </EmptyState>
        )}
        {problem === undefined && chains?.length !== 0 && <WalletChainsTable address={address} chains={chains} />}
      </Panel>
      {missing.length > 0 && chains?.length !== 0 && (
        <p class="note note-warn">
          {listed.length > 0 &&
            `The history of ${listed.join(', ')} is not complete: the first transaction there is the earliest known. `}
          {others.length > 0 &&
            `${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} not fully indexed and may add to this.`}
        </p>
      )}
    </>
  )
}
