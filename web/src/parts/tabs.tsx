// Several views of one thing, one at a time, moved through with the arrow keys.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

type Tab = { name: string; title: string; content: () => ComponentChildren }

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const chosen = useSignal(tabs[0]!.name)
  const shown = tabs.find(({ name }) => name === chosen.value) ?? tabs[0]!
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const next = tabs[(tabs.indexOf(shown) + step + tabs.length) % tabs.length]!
    chosen.value = next.name
    document.getElementById(`tab-${next.name}`)?.focus()
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === shown.name}
            aria-controls="tab-content"
            tabIndex={name === shown.name ? 0 : -1}
            onClick={() => {
              chosen.value = name
            }}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-content" aria-labelledby={`tab-${shown.name}`}>
        {shown.content()}
      </div>
    </div>
  )
}
