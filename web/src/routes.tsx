// Which page an address names, how its tab is titled, and how the page is loaded: all but the overview when first needed.
import type { ComponentChild } from 'preact'
import { readAsOf } from './holdings/as-of.ts'
import { Lazy, lazily } from './lazy.tsx'
import { NotFound } from './pages/not-found.tsx'
import { Overview } from './pages/overview.tsx'
import { shortText } from './quantities.ts'
import { searchDialog } from './search/search-box.tsx'
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
  erc20: lazily(async () => (await import('./pages/erc20.tsx')).Erc20Page),
  contract: lazily(async () => (await import('./pages/contract.tsx')).ContractPage),
  holders: lazily(async () => (await import('./pages/holders.tsx')).HoldersPage),
  key: lazily(async () => (await import('./pages/key.tsx')).KeyPage),
  keys: lazily(async () => (await import('./pages/keys.tsx')).KeysPage),
  reference: lazily(async () => (await import('./pages/reference.tsx')).Reference),
  search: lazily(async () => (await import('./pages/search.tsx')).SearchPage),
  token: lazily(async () => (await import('./pages/token.tsx')).TokenPage),
  transaction: lazily(async () => (await import('./pages/transaction.tsx')).TransactionPage),
  webhook: lazily(async () => (await import('./pages/webhook.tsx')).WebhookPage),
  webhooks: lazily(async () => (await import('./pages/webhooks.tsx')).WebhooksPage),
  wallet: lazily(async () => (await import('./pages/wallet.tsx')).WalletPage),
}

/** Loads every page, and the search, while nothing else happens, so that a click shows the next one at once. */
export function prefetchPages(): void {
  const wait = window.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 2_000))
  wait(() => {
    for (const { load } of [...Object.values(pages), searchDialog]) load().catch(() => undefined)
  })
}

export function pageOf({ parts, query }: Route): Shown {
  const [page, first = '', second = '', third = ''] = parts
  const cursor = query.get('cursor') ?? undefined
  switch (page) {
    case undefined:
      return { title: ['Overview'], content: <Overview /> }
    case 'chain':
      return lazy([first, 'chain'], pages.chain, first, { name: first })
    case 'explore':
      return lazy(['API reference'], pages.reference, '', {})
    case 'keys':
      if (first === '') return lazy(['Keys'], pages.keys, query.get('new') ?? '', { isNew: query.has('new') })
      return lazy([first, 'key'], pages.key, first, { id: first })
    case 'webhooks':
      if (first === '') return lazy(['Webhooks'], pages.webhooks, '', {})
      return lazy([first, 'webhook'], pages.webhook, first, { id: first })
    case 'search':
      return lazy([query.get('q') ?? '', 'search'].filter(Boolean), pages.search, '', { text: query.get('q') ?? '' })
    case 'contract':
      return contractPage({ chain: first, address: second }, third, { cursor, query })
    case 'erc20': {
      const token = { chain: first, address: second, view: third, cursor }
      return lazy(
        [shortText(second), third === 'holders' ? 'holders' : 'token'],
        pages.erc20,
        `${first} ${second}`,
        token,
      )
    }
    case 'block':
      return lazy([`${first} ${second}`, 'block'], pages.block, `${first} ${second}`, { chain: first, number: second })
    case 'transaction':
      return lazy([shortText(second), 'transaction'], pages.transaction, `${first} ${second}`, {
        chain: first,
        hash: second,
      })
    case 'token': {
      const cursors = { cursor, holders: query.get('holders') ?? undefined }
      const token = { chain: first, contract: second, tokenId: third }
      return lazy(
        [`#${shortText(third, 6)} of ${shortText(second)}`, 'token'],
        pages.token,
        `${first} ${second} ${third}`,
        { ...token, cursors },
      )
    }
    case 'wallet': {
      const chain = query.get('chain') ?? undefined
      const list = walletTitles[second] ?? 'wallet'
      return lazy([shortText(first), list], pages.wallet, first, { address: first, chain, list: second, cursor })
    }
    case 'account':
      return lazy([shortText(second), 'account'], pages.account, `${first} ${second}`, {
        network: first,
        address: second,
      })
    default:
      return { title: ['Page not found'], content: <NotFound page={parts.join('/')} /> }
  }
}

const walletTitles: Readonly<Record<string, string>> = {
  nfts: 'NFTs',
  collections: 'collections',
  transfers: 'NFT transfers',
  tokens: 'tokens',
  'token-transfers': 'token transfers',
}

type Contract = { chain: string; address: string }
type Asked = { cursor: string | undefined; query: URLSearchParams }

function contractPage(contract: Contract, view: string, { cursor, query }: Asked): Shown {
  const key = `${contract.chain} ${contract.address}`
  if (view === 'holders')
    return lazy([shortText(contract.address), 'holders'], pages.holders, key, {
      ...contract,
      cursor,
      asOf: readAsOf(query),
    })
  return lazy([shortText(contract.address), 'contract'], pages.contract, key, contract)
}

type Page<Props> = ReturnType<typeof lazily<Props>>

/** A page of another subject begins anew: its key says which one it is of. */
function lazy<Props extends object>(title: Shown['title'], page: Page<Props>, key: string, props: Props): Shown {
  const [subject = '', kind] = title
  const heading = kind === undefined ? subject : `${kind} ${subject}`
  return {
    title,
    content: (
      <Lazy
        key={`${page.id} ${key}`}
        page={page}
        props={props}
        title={heading.slice(0, 1).toUpperCase() + heading.slice(1)}
      />
    ),
  }
}
