// Says why a place is empty, and what to do next.
import type { ComponentChildren } from 'preact'
import { EmptyIcon } from './icons.tsx'

type Props = {
  title: string
  /** One sentence: why nothing is here. */
  children?: ComponentChildren
  icon?: ComponentChildren
  /** Links or buttons. */
  action?: ComponentChildren
}

export function EmptyState({ title, children, icon = <EmptyIcon />, action }: Props) {
  return (
    <div class="empty">
      {icon}
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
      {action !== undefined && <div class="actions">{action}</div>}
    </div>
  )
}
