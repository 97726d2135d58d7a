// The console: finds the key, listens to the service, and shows the page that the address names.
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { AccountPage } from './pages/account.tsx'
import { ChainPage } from './pages/chain.tsx'
import { ContractPage } from './pages/contract.tsx'
import { Explorer } from './pages/explorer.tsx'
import { Frame } from './pages/frame.tsx'
import { KeysPage } from './pages/keys.tsx'
import { Overview } from './pages/overview.tsx'
import { Reference } from './pages/reference.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { WalletPage } from './pages/wallet.tsx'
import { startLive } from './state/live.ts'
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
  contract: 'Contract',
  wallet: 'Wallet',
  account: 'Account',
}

function Console() {
  const signedIn = key.value !== undefined
  const { parts } = route.value
  const title = isReference ? 'Reference' : (titles[parts[0] ?? ''] ?? 'Overview')
  useEffect(() => {
    document.title = signedIn || isReference ? `${title} · Almanac` : 'Almanac'
  }, [title, signedIn])
  if (!signedIn && !isReference) return <SignIn />
  return <Frame>{isReference ? <Reference /> : <Page />}</Frame>
}

function Page() {
  const {
    parts: [page, first = '', second = ''],
    query,
  } = route.value
  if (page === undefined) return <Overview />
  if (page === 'chain') return <ChainPage key={first} name={first} />
  if (page === 'explore') return <Explorer />
  if (page === 'contract') return <ContractPage key={`${first} ${second}`} chain={first} address={second} />
  if (page === 'wallet') return <WalletPage key={first} address={first} chain={query.get('chain') ?? 'eth'} />
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
