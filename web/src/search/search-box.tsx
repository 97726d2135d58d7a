// The search that any page opens, by its button, by ⌘K or Ctrl-K, or by "/". The dialog itself is loaded when it is first wanted.
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Lazy, lazily } from '../lazy.tsx'
import { route } from '../state/route.ts'

/** Of a command that somebody pastes, with its headers. */
const lengthMax = 4_000

const isOpen = signal(false)
/** What is in the field, and what is typed before it is there. */
const text = signal('')
export const searchDialog = lazily(async () => (await import('./search-dialog.tsx')).SearchDialog)

export function openSearch(): void {
  openSearchFor('')
}

export function openSearchFor(typed: string): void {
  text.value = typed.slice(0, lengthMax)
  isOpen.value = true
}

function closeSearch(): void {
  isOpen.value = false
}

export function SearchBox() {
  const dialog = useRef<HTMLDialogElement>(null)
  const openedAt = useRef(route.value.turn)
  useEffect(() => {
    if (isOpen.value) {
      openedAt.current = route.value.turn
      dialog.current?.showModal()
      return
    }
    dialog.current?.close()
    // The dialog gave the focus back to where it was, which is not on the page that was chosen.
    if (route.value.turn !== openedAt.current) document.getElementById('main')?.focus({ preventScroll: true })
  }, [isOpen.value])
  // Whatever was chosen, another page is shown now.
  useEffect(closeSearch, [route.value])
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isCommand = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)
      if (isOpen.value && !isCommand) {
        if (isBeforeField(event, dialog.current!)) typeAhead(event)
        return
      }
      const isSlash = event.key === '/' && !isTyping(event.target)
      if (!(isCommand || isSlash)) return
      event.preventDefault()
      if (document.querySelector('dialog[open]') !== null) return
      // Escape closes the dialog a moment before its event says so: the next search begins anew all the same.
      if (isOpen.value) dialog.current!.showModal()
      openSearch()
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
      onClose={() => {
        if (!dialog.current!.open) closeSearch()
      }}
      onClick={event => {
        // Beside the box is the backdrop, which is the dialog too.
        if (event.target === dialog.current) closeSearch()
      }}
    >
      {isOpen.value && <Lazy page={searchDialog} props={{ text, lengthMax, onClose: closeSearch }} />}
    </dialog>
  )
}

/** The dialog is on its way, or its field has not got the focus yet. */
function isBeforeField({ target }: KeyboardEvent, dialog: HTMLDialogElement): boolean {
  return target === dialog || !dialog.contains(target as Node)
}

/** Nor do these keys act on the page behind. */
function typeAhead(event: KeyboardEvent): void {
  const isText = event.key.length === 1 && !(event.ctrlKey || event.metaKey || event.altKey)
  if (!(isText || event.key === 'Enter' || event.key === 'Backspace')) return
  event.preventDefault()
  if (isText) text.value = (text.value + event.key).slice(0, lengthMax)
  else if (event.key === 'Backspace') text.value = text.value.slice(0, -1)
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}
