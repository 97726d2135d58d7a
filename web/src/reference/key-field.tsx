// The key of those who look at the reference without signing in, or with another key than theirs: one small field beside
// the request that carries it.
import { useEffect, useRef } from 'preact/hooks'
import { apiDocument } from '../state/document.ts'
import { key, otherKey, typedKey, typedKeyRefusal } from '../state/session.ts'

/** Who signed in has given one: the field of another is folded, and forgotten with its folding. */
export function KeyField() {
  const sandboxKey = apiDocument.value?.info['x-sandbox-key']
  const refusal = typedKeyRefusal.value
  const input = useRef<HTMLInputElement>(null)
  const wasGiven = useRef(otherKey.peek() !== '')
  useEffect(() => {
    if (refusal !== undefined) input.current?.focus()
  }, [refusal])
  const isSignedIn = key.value !== undefined
  const typed = isSignedIn ? otherKey : typedKey
  const field = (
    <div class="reference-key">
      <label for="reference-key" class={isSignedIn ? 'offstage' : undefined}>
        X-API-Key
      </label>
      <input
        ref={input}
        id="reference-key"
        type="password"
        class="mono"
        autocomplete="off"
        spellcheck={false}
        title="Sent with the requests of this page, kept nowhere."
        aria-describedby={refusal === undefined ? undefined : 'reference-key-refusal'}
        aria-invalid={refusal !== undefined}
        value={typed.value}
        onInput={event => {
          typed.value = event.currentTarget.value
          typedKeyRefusal.value = undefined
        }}
      />
      {refusal !== undefined && (
        <strong class="refusal" id="reference-key-refusal">
          {typed.value === '' ? 'A key is missing' : refusal}
          {sandboxKey !== undefined && (
            <>
              . The key of this sandbox is <code>{sandboxKey}</code>.
            </>
          )}
        </strong>
      )}
    </div>
  )
  if (!isSignedIn) return field
  return (
    <details
      class="reference-other-key"
      open={wasGiven.current}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) return
        otherKey.value = ''
        typedKeyRefusal.value = undefined
      }}
    >
      <summary class="soft">With another key</summary>
      {field}
    </details>
  )
}
