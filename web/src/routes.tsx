// Which page an address names, how its tab is titled, and how the page is loaded: all but the overview when first needed.
import type { ComponentChild } from 'preact'
import { readAsOf } from './holdings/as-of.ts'
import { Lazy, lazily } from './lazy.tsx'
import { NotFound } from './pages/not-found.tsx'
import { Overview } from './pages/overview.tsx'
import { shortText } from './quantities.ts'
import type { Route } from './state/route.ts'

type Shown = {
  /** What tells this tab from others, the subject first. */
  title: readonly string[]
  content: ComponentChild
}

const pages = {
  account: lazily(async () => (await import('./pages/account.tsx')).AccountPage),
  block: lazily(async () => (await import('./pages/block.tsx')).BlockPage),
  chain: lazily(async () => (await import('./pages/chain.tsx')).ChainPage),
  contract: lazily(async () => (await import('./pages/contract.tsx')).ContractPage),
  explorer: lazily(async () => (await import('./pages/explorer.tsx')).Explorer),
  holders: lazily(async () => (await import('./pages/holders.tsx')).HoldersPage),
  key: lazily(async () => (await import('./pages/key.tsx')).KeyPage),
  keys: lazily(async () => (await import('./pages/keys.tsx')).KeysPage),
  reference: lazily(async () => (await import('./pages/reference.tsx')).Reference),
  search: lazily(async () => (await import('./pages/search.tsx')).SearchPage),
  token: lazily(async () => (await import('./pages/token.tsx')).TokenPage),
  transaction: lazily(async () => (await import('./pages/transaction.tsx')).TransactionPage),
  wallet: lazily(async () => (await import('./pages/wallet.tsx')).WalletPage),
}

/** Loads every page while nothing else happens, so that a click shows the next one at once. */
export function prefetchPages(): void {
  const wait = window.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 2_000))
  wait(() => {
    for (const { load } of Object.values(pages)) load().catch(() => undefined)
  })
}

export function referencePage(): Shown {
  return { title: ['Reference'], content: <Lazy page={pages.reference} props={{}} /> }
}

export function pageOf({ parts, query }: Route): Shown {
  const [page, first = '', second = '', third = ''] = parts
  const cursor = query.get('cursor') ?? undefined
  switch (page) {
    case undefined:
      return { title: ['Overview'], content: <Overview /> }
    case 'chain':
      return { title: [first, 'chain'], content: lazy(pages.chain, first, { name: first }) }
    case 'explore':
      return { title: ['Explorer'], content: lazy(pages.explorer, '', {}) }
    case 'keys':
      if (first === '') return { title: ['Keys'], content: lazy(pages.keys, '', {}) }
      return { title: [first, 'key'], content: lazy(pages.key, first, { id: first }) }
    case 'search':
      return {
        title: [query.get('q') ?? '', 'search'].filter(Boolean),
        content: lazy(pages.search, '', { text: query.get('q') ?? '' }),
      }
    case 'contract':
      return contractPage({ chain: first, address: second }, third, { cursor, query })
    case 'block':
      return {
        title: [`${first} ${second}`, 'block'],
        content: lazy(pages.block, `${first} ${second}`, { chain: first, number: second }),
      }
    case 'transaction':
      return {
        title: [shortText(second), 'transaction'],
        content: lazy(pages.transaction, `${first} ${second}`, { chain: first, hash: second }),
      }
    case 'token': {
      const cursors = { cursor, holders: query.get('holders') ?? undefined }
      const token = { chain: first, contract: second, tokenId: third }
      return {
        title: [`#${shortText(third, 6)} of ${shortText(second)}`, 'token'],
        content: lazy(pages.token, `${first} ${second} ${third}`, { ...token, cursors }),
      }
    }
    case 'wallet': {
      const chain = query.get('chain') ?? undefined
      const list = walletTitles[second] ?? 'wallet'
      return {
        title: [shortText(first), list],
        content: lazy(pages.wallet, first, { address: first, chain, list: second, cursor }),
      }
    }
    case 'account':
      return {
        title: [shortText(second), 'account'],
        content: lazy(pages.account, `${first} ${second}`, { network: first, address: second }),
      }
    default:
      return { title: ['Page not found'], content: <NotFound page={parts.join('/')} /> }
  }
}

const walletTitles: Readonly<Record<string, string>> = {
  nfts: 'NFTs',
  collections: 'collections',
  transfers: 'NFT transfers',
}

type Contract = { chain: string; address: string }
type Asked = { cursor: string | undefined; query: URLSearchParams }

function contractPage(contract: Contract, view: string, { cursor, query }: Asked): Shown {
  const key = `${contract.chain} ${contract.address}`
  if (view === 'holders')
    return {
      title: [shortText(contract.address), 'holders'],
      content: lazy(pages.holders, key, { ...contract, cursor, asOf: readAsOf(query) }),
    }
  return { title: [shortText(contract.address), 'contract'], content: lazy(pages.contract, key, contract) }
}

/** A page of another subject begins anew: its key says which one it is of. */
function lazy<Props extends object>(page: ReturnType<typeof lazily<Props>>, key: string, props: Props) {
  return <Lazy key={`${page.id} ${key}`} page={page} props={props} />
}
