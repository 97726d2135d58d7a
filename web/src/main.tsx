// The console: finds the key, listens to the service, and shows the page that the address names.
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { readAsOf } from './holdings/as-of.ts'
import { AccountPage } from './pages/account.tsx'
import { ChainPage } from './pages/chain.tsx'
import { ContractPage } from './pages/contract.tsx'
import { Explorer } from './pages/explorer.tsx'
import { Frame } from './pages/frame.tsx'
import { HoldersPage } from './pages/holders.tsx'
import { KeysPage } from './pages/keys.tsx'
import { Overview } from './pages/overview.tsx'
import { Reference } from './pages/reference.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { TokenPage } from './pages/token.tsx'
import { WalletPage } from './pages/wallet.tsx'
import { shortText } from './quantities.ts'
import { firstChain, startLive } from './state/live.ts'
import { goTo, isReference, route } from './state/route.ts'
import { key, restoreSession } from './state/session.ts'
import './style/tokens.css'
import './style/page.css'
import './style/cards.css'
import './style/coverage.css'
import './style/plots.css'
import './style/tables.css'
import './style/forms.css'
import './style/answers.css'

const titles: Readonly<Record<string, string>> = {
  explore: 'Explorer',
  keys: 'Keys',
  chain: 'Chain',
  account: 'Account',
}

const walletTitles: Readonly<Record<string, string>> = {
  nfts: 'NFTs of',
  collections: 'Collections of',
  transfers: 'NFT transfers of',
}

/** Pages about one subject name it, so that their tabs and bookmarks can be told apart. */
function titleOf([page = '', first = '', second = '', third = '']: readonly string[]): string {
  if (page === 'wallet') return `${walletTitles[second] ?? 'Wallet'} ${shortText(first)}`
  if (page === 'contract') return `${third === 'holders' ? 'Holders of' : 'Contract'} ${shortText(second)}`
  if (page === 'token') return `Token #${shortText(third, 6)} of ${shortText(second)}`
  return titles[page] ?? 'Overview'
}

function Console() {
  const signedIn = key.value !== undefined
  const { parts } = route.value
  const title = isReference ? 'Reference' : titleOf(parts)
  useEffect(() => {
    document.title = signedIn || isReference ? `${title} · Almanac` : 'Almanac'
  }, [title, signedIn])
  if (!signedIn && !isReference) return <SignIn />
  return <Frame>{isReference ? <Reference /> : <Page />}</Frame>
}

function Page() {
  const {
    parts: [page, first = '', second = '', third = ''],
    query,
  } = route.value
  const cursor = query.get('cursor') ?? undefined
  if (page === undefined) return <Overview />
  if (page === 'chain') return <ChainPage key={first} name={first} />
  if (page === 'explore') return <Explorer />
  if (page === 'contract' && third === 'holders')
    return (
      <HoldersPage key={`${first} ${second}`} {...{ chain: first, address: second, cursor, asOf: readAsOf(query) }} />
    )
  if (page === 'contract') return <ContractPage key={`${first} ${second}`} chain={first} address={second} />
  if (page === 'token') {
    const cursors = { cursor, holders: query.get('holders') ?? undefined }
    return (
      <TokenPage key={`${first} ${second} ${third}`} {...{ chain: first, contract: second, tokenId: third, cursors }} />
    )
  }
  if (page === 'wallet') {
    const chain = query.get('chain') ?? firstChain()
    return <WalletPage key={first} address={first} chain={chain} list={second} cursor={cursor} />
  }
  if (page === 'account') return <AccountPage key={`${first} ${second}`} network={first} address={second} />
  if (page === 'keys') return <KeysPage />
  return (
    <>
      <h1>Nothing is here</h1>
      <p>
        There is no page {page}. <a href="#/">Back to the overview</a>
      </p>
    </>
  )
}

restoreSession()
// The key may just have been taken out of the address.
goTo(location.hash)
startLive()
render(<Console />, document.getElementById('app')!)
