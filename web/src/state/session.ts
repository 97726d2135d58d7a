// The key that this browser uses: taken from the address, kept for the tab or, if wanted, for good. It is sent nowhere
// but to this service, and a link never replaces it unasked.
import { computed, signal } from '@preact/signals'
import { forgetKey, keptKey, keyPlace } from './kept-key.ts'

type Session = { key: string; remembered: boolean } | undefined

const session = signal<Session>(undefined)

export const key = computed(() => session.value?.key)

/** For those who look at the reference without signing in. Kept nowhere. */
export const typedKey = signal('')

/** In the place of the one that is signed in with. Kept nowhere. */
export const otherKey = signal('')

export const isKeyTyped = computed(() => key.value === undefined || otherKey.value.trim() !== '')

/** What requests of the reference carry; empty where there is none. */
export const askingKey = computed(() =>
  key.value === undefined ? typedKey.value.trim() : otherKey.value.trim() || key.value,
)

/** Why the last request with it was refused. */
export const typedKeyRefusal = signal<string | undefined>(undefined)

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

/** What is wrong with a text that cannot be a key: a header carries no other characters. */
export function problemOfKey(secret: string): string | undefined {
  return /^[\x20-\x7e\xa0-\xff]+$/.test(secret)
    ? undefined
    : 'This is not a key: it has a character that no key has. Check that it was copied whole, and nothing else with it.'
}

/** Why the last key is not in use any more; shown above the sign-in form. */
export const refusal = signal<string | undefined>(undefined)

/** The key of a link that was followed while another one is in use: the user decides which of them this tab uses. */
export const offeredKey = signal<string | undefined>(undefined)

export function signIn(secret: string, { remember }: { remember: boolean }): void {
  forgetKey()
  if (remember) localStorage.setItem(keyPlace, secret)
  use({ key: secret, remembered: remember })
}

/** What is remembered stays so. Nothing of what the other key was shown stays on the page. */
export function acceptOfferedKey(): void {
  sessionStorage.setItem(keyPlace, offeredKey.value!)
  location.reload()
}

function use(next: NonNullable<Session>): void {
  if (!next.remembered) sessionStorage.setItem(keyPlace, next.key)
  session.value = next
  refusal.value = undefined
  hasWorked = false
}

export function signOut(): void {
  forgetKey()
  session.value = undefined
  refusal.value = undefined
}

/** Forgets the key in use alone: another one that is remembered is used again by the next load. */
export function endSession(why: string): void {
  ;(session.value?.remembered === true ? localStorage : sessionStorage).removeItem(keyPlace)
  session.value = undefined
  refusal.value = why
}

export function restoreSession(): void {
  session.value = keptKey()
  takeLinkedKey()
}

/**
 * Moves a key that came as `#key=…` out of the address bar and the history. It is used at once only where there is no
 * other. Tells whether there was one: the address is another one then.
 */
export function takeLinkedKey(): boolean {
  const given = /^#key=([^&]+)(?:&(.*))?$/.exec(location.hash)
  if (given === null) return false
  const rest = given[2]?.split('&') ?? []
  const others = rest.filter(part => !part.startsWith('key='))
  history.replaceState(history.state, '', `${location.pathname}#${others.join('&') || '/'}`)
  // What is not encoded well is taken as it stands.
  const secret = new URLSearchParams(`key=${given[1]!.replaceAll('+', '%2B')}`).get('key')!
  const isOne = others.length === rest.length
  const problem = isOne ? problemOfKey(secret) : 'The link carries several keys. Sign in with the one that is yours.'
  if (problem !== undefined) {
    if (session.value === undefined) refusal.value = problem
  } else if (session.value === undefined) use({ key: secret, remembered: false })
  else if (secret !== session.value.key) offeredKey.value = secret
  return true
}
