// Answers as the tables that the pages of the console show: by the operation, for those whose rows have one.
import type { ComponentChildren } from 'preact'
import { CollectionsTable, NftTable, OwnersTable } from '../holdings/nft-tables.tsx'
import { PortfolioTables } from '../holdings/portfolio-tables.tsx'
import { type ShownTransfer, TransfersTable } from '../holdings/transfers-table.tsx'
import { WalletChainsTable } from '../holdings/wallet-chains-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { NotConfigured } from '../parts/not-configured.tsx'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { isConfigured } from './configured.ts'
import type { Values } from './request-text.ts'

type Rows = readonly never[]
type List = { result?: Rows; index_complete?: boolean }

const lists: Readonly<Record<string, (rows: Rows, chain: string) => ComponentChildren>> = {
  getNFTContractTransfers: (rows, chain) => <TransfersTable rows={rows} chain={chain} />,
  getNFTTransfers: transfersOfSeveral,
  getNFTTransfersByBlock: transfersOfSeveral,
  getNFTTransfersFromToBlock: transfersOfSeveral,
  getWalletNFTTransfers: transfersOfSeveral,
  getWalletNFTs: (rows, chain) => <NftTable rows={rows} chain={chain} />,
  getNFTOwners: (rows, chain) => <OwnersTable rows={rows} chain={chain} />,
  getNFTTokenIdOwners: (rows, chain) => <OwnersTable rows={rows} chain={chain} />,
  getWalletNFTCollections: (rows, chain) => <CollectionsTable rows={rows} chain={chain} />,
}

function transfersOfSeveral(rows: readonly ShownTransfer[], chain: string) {
  return <TransfersTable rows={rows} chain={chain} withCollections />
}

/** Undefined where JSON alone shows the answer. */
export function tableOf(name: string, json: unknown, values: Values): ComponentChildren | undefined {
  if (json === undefined || json === null) return undefined
  const { address = '', chain = 'eth', network = 'mainnet' } = values
  const { result, index_complete: complete } = json as List
  const list = lists[name]
  if (list !== undefined && Array.isArray(result))
    return result.length === 0 ? <NoRows chain={chain} complete={complete} /> : list(result, chain)
  if (name === 'getWalletActiveChains') {
    const { active_chains: chains } = json as Schemas['WalletChains']
    if (chains.length === 0)
      return <EmptyState title="No activity">Nothing of this wallet is known on these chains.</EmptyState>
    return (
      <>
        <WalletChainsTable address={address} chains={chains} />
        <Opened href={hrefOf(['wallet', address])}>Open wallet</Opened>
      </>
    )
  }
  if (name === 'getPortfolio')
    return (
      <>
        <PortfolioTables portfolio={json as Schemas['Portfolio']} />
        <Opened href={hrefOf(['account', network, address])}>Open account</Opened>
      </>
    )
  return undefined
}

function NoRows({ chain, complete }: { chain: string; complete: boolean | undefined }) {
  if (complete === false && !isConfigured(chain)) return <NotConfigured chain={chain} />
  if (complete === undefined) return <EmptyState title="Nothing found" />
  return (
    <EmptyState title={complete ? 'Nothing found' : 'Nothing found yet'}>
      {complete
        ? 'There is none: every block of the range is indexed.'
        : 'Not every block of the range is indexed, so there may be some.'}
    </EmptyState>
  )
}

function Opened({ href, children }: { href: string; children: string }) {
  return (
    <nav class="paging" aria-label="More">
      <a class="aside" href={href}>
        {children}
      </a>
    </nav>
  )
}
