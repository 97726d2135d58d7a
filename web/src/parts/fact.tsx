// One fact with its name, within a list of facts.
import type { ComponentChildren } from 'preact'

export function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}
