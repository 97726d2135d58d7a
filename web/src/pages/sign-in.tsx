// The first screen: asks for a key, tries it before it opens the console, and says why where one is not accepted.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { CopyButton } from '../parts/copy-button.tsx'
import { Mark } from '../parts/icons.tsx'
import { problemOf, type Schemas } from '../state/service.ts'
import { problemOfKey, refusal, refusalOfKey, signIn } from '../state/session.ts'
import './sign-in.css'

const command = 'almanac keys create --scopes all'

export function SignIn() {
  const secret = useSignal('')
  const remember = useSignal(false)
  const isTrying = useSignal(false)
  const sandboxKey = useSignal<string | undefined>(undefined)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    void keyOfSandbox().then(found => {
      sandboxKey.value = found
    })
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    void tryKey(secret.value.trim())
  }
  const tryKey = async (given: string) => {
    if (given === '' || isTrying.value) return
    isTrying.value = true
    const problem = problemOfKey(given) ?? (await problemWith(given))
    isTrying.value = false
    refusal.value = problem
    if (problem === undefined) signIn(given, { remember: remember.value })
    else field.current?.select()
  }
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <header>
          <Mark />
          <h1>Almanac</h1>
          <p class="soft">The console of this service</p>
        </header>
        {refusal.value !== undefined && (
          <p class="note note-bad" role="alert">
            {refusal.value}
          </p>
        )}
        <form onSubmit={submit}>
          <label for="key">Key</label>
          <input
            ref={field}
            id="key"
            name="key"
            type="password"
            class="mono"
            placeholder="alm_…"
            autocomplete="current-password"
            spellcheck={false}
            required
            aria-describedby="key-help"
            aria-invalid={refusal.value !== undefined}
            value={secret.value}
            onInput={event => {
              secret.value = event.currentTarget.value
            }}
          />
          <label class="check">
            <input
              type="checkbox"
              checked={remember.value}
              onChange={event => {
                remember.value = event.currentTarget.checked
              }}
            />
            Remember it in this browser
          </label>
          <button type="submit" class="primary" disabled={isTrying.value}>
            {isTrying.value ? 'Checking the key…' : 'Open the console'}
          </button>
        </form>
        <div id="key-help" class="sign-in-help soft">
          {sandboxKey.value !== undefined && (
            <p class="sign-in-sandbox">
              The sandbox’s key is <code>{sandboxKey.value}</code>.{' '}
              <button
                type="button"
                class="small"
                onClick={() => {
                  secret.value = sandboxKey.value ?? ''
                  void tryKey(secret.value)
                }}
              >
                Sign in with it
              </button>
            </p>
          )}
          <p>
            The key needs the scope <code>ops</code>, and <code>keys</code> to administer keys. The first start prints
            one; create another with
          </p>
          <div class="code-view">
            <CopyButton text={command} what="the command" />
            <pre>
              <code>{command}</code>
            </pre>
          </div>
          <p>Kept until you close the tab, unless remembered. Sent to this service alone.</p>
        </div>
      </div>
      <footer class="sign-in-foot soft">
        <a href="/docs">Docs</a>
        <a href="/reference">API reference</a>
        <a href="/openapi.json">OpenAPI document</a>
        <a href="/health">Health</a>
      </footer>
    </main>
  )
}

/** Undefined where the service is not a sandbox, or does not answer. */
async function keyOfSandbox(): Promise<string | undefined> {
  try {
    const response = await fetch('/health')
    const { sandbox_key: key } = (await response.json()) as Schemas['Health']
    return key
  } catch {
    return undefined
  }
}

/** Undefined where the key opens the console. */
async function problemWith(secret: string): Promise<string | undefined> {
  try {
    const response = await fetch('/status', { headers: { 'x-api-key': secret }, cache: 'no-store' })
    if (response.ok) return undefined
    if (response.status === 401) return refusalOfKey()
    const { message } = problemOf(await response.json().catch(() => undefined), response)
    return response.status === 403 ? `${message}. The console needs a key with the scope ops.` : message
  } catch {
    return 'The service does not answer. Check that it runs, and try again.'
  }
}
