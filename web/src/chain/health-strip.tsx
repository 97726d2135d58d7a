// Whether an endpoint was well over the past, as a strip: one stretch for each time it was, or was not.
import { percentText } from '../quantities.ts'

type Props = { values: readonly (number | null)[]; subject: string }

export function HealthStrip({ values, subject }: Props) {
  const known = values.filter(value => value !== null)
  const well = known.filter(value => value === 1).length
  const label =
    known.length === 0
      ? `${subject}: nothing is known yet.`
      : `${subject}: well in ${percentText(well, known.length)} of the last ${known.length} looks.`
  return (
    <svg
      class="health-strip"
      viewBox={`0 0 ${Math.max(1, values.length)} 10`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {stretches(values).map(({ at, length, value }) => (
        <rect
          key={at}
          x={at}
          y={value === 0 ? 0 : 3}
          width={length}
          height={value === 0 ? 10 : 4}
          class={value === 0 ? 'ill' : 'well'}
        />
      ))}
    </svg>
  )
}

/** Neighbours of one value as one; what is not known is left out. */
export function stretches(values: readonly (number | null)[]): { at: number; length: number; value: number }[] {
  const found: { at: number; length: number; value: number }[] = []
  for (const [at, value] of values.entries()) {
    const last = found.at(-1)
    if (value === null) continue
    if (last !== undefined && last.value === value && last.at + last.length === at) last.length++
    else found.push({ at, length: 1, value })
  }
  return found
}
