// The console: finds the key, listens to the service, and shows the page that the address names.
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { Frame } from './pages/frame.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { pageOf, prefetchPages } from './routes.tsx'
import { startLive } from './state/live.ts'
import { goTo, isReference, route } from './state/route.ts'
import { key, restoreSession, takeLinkedKey } from './state/session.ts'
import { namedTitle } from './state/title.ts'
import './style/fonts.css'
import './style/tokens.css'
import './style/base.css'
import './style/frame.css'
import './style/layout.css'
import './style/panels.css'
import './style/badges.css'
import './style/notes.css'
import './style/overview.css'
import './style/coverage.css'
import './style/plots.css'
import './style/tables.css'
import './style/forms.css'
import './style/choices.css'
import './style/answers.css'

function Console() {
  const shown = isReference || key.value !== undefined ? pageOf(route.value) : undefined
  const title = [...(namedTitle.value ?? shown?.title ?? ['Sign in']), 'Almanac'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
  return shown === undefined ? <SignIn /> : <Frame>{shown.content}</Frame>
}

addEventListener('hashchange', () => {
  if (takeLinkedKey()) goTo(location.hash)
})
restoreSession()
// The key may just have been taken out of the address.
goTo(location.hash)
startLive()
render(<Console />, document.getElementById('app')!)
prefetchPages()
