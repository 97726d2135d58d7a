// Asks for a key, and says why where one was in use before.
import { useSignal } from '@preact/signals'
import { Mark } from '../parts/icons.tsx'
import { refusal, signIn } from '../state/session.ts'

export function SignIn() {
  const secret = useSignal('')
  const remember = useSignal(false)
  const submit = (event: Event) => {
    event.preventDefault()
    if (secret.value.trim() !== '') signIn(secret.value.trim(), { remember: remember.value })
  }
  return (
    <main class="sign-in">
      <Mark />
      <h1>Almanac</h1>
      {refusal.value !== undefined && (
        <p class="note note-bad" role="alert">
          {refusal.value}
        </p>
      )}
      <form onSubmit={submit}>
        <label for="key">Key</label>
        <input
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby="key-help"
          value={secret.value}
          onInput={event => {
            secret.value = event.currentTarget.value
          }}
        />
        <small id="key-help">
          With the scope <code>ops</code>, and <code>keys</code> to administer keys. One is printed at the first start;
          more come from <code>almanac keys create --scopes all</code>.
        </small>
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
        <button type="submit" class="primary">
          Open the console
        </button>
      </form>
    </main>
  )
}
