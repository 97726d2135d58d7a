// Several views of one thing, one at a time, moved through with the arrow keys.
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export type Tab = { name: string; title: string; content: () => ComponentChildren }

/** `chosen`: where several lists of tabs agree on one. */
export function Tabs({ label, tabs, chosen }: { label: string; tabs: readonly Tab[]; chosen?: Signal<string> }) {
  const own = useSignal(tabs[0]!.name)
  const current = chosen ?? own
  const id = useId()
  const shown = tabs.find(({ name }) => name === current.value) ?? tabs[0]!
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const next = tabs[(tabs.indexOf(shown) + step + tabs.length) % tabs.length]!
    current.value = next.name
    document.getElementById(`${id}-${next.name}`)?.focus()
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === shown.name}
            aria-controls={`${id}-content`}
            tabIndex={name === shown.name ? 0 : -1}
            onClick={() => {
              current.value = name
            }}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-content`} aria-labelledby={`${id}-${shown.name}`}>
        {shown.content()}
      </div>
    </div>
  )
}
