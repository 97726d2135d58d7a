// The key that this browser uses: taken from the address, kept for the tab or, if wanted, for good. It is sent nowhere but to this service.
import { computed, signal } from '@preact/signals'

const place = 'almanac.key'

type Session = { key: string; remembered: boolean } | undefined

const session = signal<Session>(undefined)

export const key = computed(() => session.value?.key)

/** For those who look at the reference without signing in. Kept nowhere. */
export const typedKey = signal('')

/** Whether the service has accepted the key since the page was loaded: one that did not was never one of its own. */
let hasWorked = false

export function keyWorked(): void {
  hasWorked = true
}

/** What to say of a key that the service does not accept. */
export function refusalOfKey(): string {
  return hasWorked
    ? 'This key does not work any more: it was revoked or has expired. Sign in with another one.'
    : 'This service does not accept this key. Check that it was copied whole and belongs to this service; it may also have been revoked.'
}

/** Why the last key is not in use any more; shown above the sign-in form. */
export const refusal = signal<string | undefined>(undefined)

export function signIn(secret: string, { remember }: { remember: boolean }): void {
  forget()
  ;(remember ? localStorage : sessionStorage).setItem(place, secret)
  session.value = { key: secret, remembered: remember }
  refusal.value = undefined
  hasWorked = false
}

export function signOut(why?: string): void {
  forget()
  session.value = undefined
  refusal.value = why
}

function forget(): void {
  localStorage.removeItem(place)
  sessionStorage.removeItem(place)
}

/** Moves a key that came as `#key=…` out of the address bar and the history, or takes the one that was kept. */
export function restoreSession(): void {
  const given = /^#key=([^&]+)(?:&(.*))?$/.exec(location.hash)
  if (given !== null) {
    history.replaceState(history.state, '', `${location.pathname}#${given[2] ?? '/'}`)
    signIn(decodeURIComponent(given[1]!), { remember: false })
    return
  }
  const kept = sessionStorage.getItem(place)
  const remembered = localStorage.getItem(place)
  if (kept !== null) session.value = { key: kept, remembered: false }
  else if (remembered !== null) session.value = { key: remembered, remembered: true }
}
