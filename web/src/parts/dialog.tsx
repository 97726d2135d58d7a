// A question that is answered before anything else: Escape closes it as its first button does.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

type Props = { title: string; onClose: () => void; children: ComponentChildren }

export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="question" aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  )
}
