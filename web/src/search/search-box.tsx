// The search that any page opens: one field for an address, a hash, a name, a label or a block.

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { goTo, hrefOf } from '../state/route.ts'

const isOpen = signal(false)

export function openSearch(): void {
  isOpen.value = true
}

export function SearchBox() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen.value])
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      openSearch()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('text') ?? '').trim()
    isOpen.value = false
    if (text !== '') goTo(hrefOf(['search'], { q: text }))
  }
  return (
    <dialog
      ref={dialog}
      aria-label="Search"
      onClose={() => {
        isOpen.value = false
      }}
    >
      {isOpen.value && (
        <form onSubmit={submit}>
          <input name="text" type="search" aria-label="Address, hash, name, label or block" autocomplete="off" />
        </form>
      )}
    </dialog>
  )
}
