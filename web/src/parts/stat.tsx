// One big figure with its name, unit, and a small line below it. Stands in a `<dl class="stats">`. Without a value, that
// is on its way.
import type { ComponentChildren } from 'preact'
import { Sparkline } from '../plots/sparkline.tsx'

type Props = {
  label: string
  value?: ComponentChildren
  unit?: string
  note?: ComponentChildren
  tone?: 'warn' | 'bad' | undefined
  /** Of the small line alone; null: none. */
  noteTone?: 'warn' | 'bad' | null | undefined
  /** Its past, as a line without axes. */
  values?: readonly (number | null)[] | undefined
}

export function Stat({ label, value, unit, note, tone, noteTone = tone, values }: Props) {
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd class={value === undefined ? 'figure skeleton' : tone === undefined ? 'figure' : `figure ${tone}`}>
        {value ?? <i />}
        {unit !== undefined && <small>{unit}</small>}
      </dd>
      <dd class={noteTone == null ? 'note-line' : `note-line ${noteTone}`}>{note}</dd>
      {values !== undefined && (
        <dd>
          <Sparkline values={values} />
        </dd>
      )}
    </div>
  )
}
