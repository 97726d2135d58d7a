// One fact with its name, within a list of facts. Without what it says, that is on its way.
import type { ComponentChildren } from 'preact'

export function Fact({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      {children === undefined ? (
        <dd class="skeleton">
          <i />
        </dd>
      ) : (
        <dd>{children}</dd>
      )}
    </div>
  )
}
