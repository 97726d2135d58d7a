// The key of those who look at the reference without signing in: one small field beside the request that carries it.
import { useEffect, useRef } from 'preact/hooks'
import { apiDocument } from '../state/document.ts'
import { key, typedKey, typedKeyRefusal } from '../state/session.ts'

/** Whoever signed in has given one. */
export function KeyField() {
  const sandboxKey = apiDocument.value?.info['x-sandbox-key']
  const refusal = typedKeyRefusal.value
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (refusal !== undefined) input.current?.focus()
  }, [refusal])
  if (key.value !== undefined) return null
  return (
    <div class="reference-key">
      <label for="reference-key">X-API-Key</label>
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
        value={typedKey.value}
        onInput={event => {
          typedKey.value = event.currentTarget.value
          typedKeyRefusal.value = undefined
        }}
      />
      {refusal !== undefined && (
        <strong class="refusal" id="reference-key-refusal">
          {typedKey.value === '' ? 'A key is missing' : refusal}
          {sandboxKey !== undefined && (
            <>
              . The key of this sandbox is <code>{sandboxKey}</code>.
            </>
          )}
        </strong>
      )}
    </div>
  )
}
