// The search that any page opens, by its button, by ⌘K or Ctrl-K, or by "/". The dialog itself is loaded when it is first wanted.
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Lazy, lazily } from '../lazy.tsx'
import { route } from '../state/route.ts'

const isOpen = signal(false)
const dialogContent = lazily(async () => (await import('./search-dialog.tsx')).SearchDialog)

export function openSearch(): void {
  isOpen.value = true
}

function closeSearch(): void {
  isOpen.value = false
}

export function SearchBox() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen.value])
  // Whatever was chosen, another page is shown now.
  useEffect(closeSearch, [route.value])
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isCommand = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)
      const isSlash = event.key === '/' && !isTyping(event.target)
      if (!(isCommand || isSlash)) return
      event.preventDefault()
      if (document.querySelector('dialog[open]') === null) openSearch()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes every dialog
    <dialog
      ref={dialog}
      class="search-dialog"
      aria-label="Search"
      onClose={closeSearch}
      onClick={event => {
        // Beside the box is the backdrop, which is the dialog too.
        if (event.target === dialog.current) closeSearch()
      }}
    >
      {isOpen.value && <Lazy page={dialogContent} props={{ onClose: closeSearch }} />}
    </dialog>
  )
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}
