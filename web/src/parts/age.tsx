// A moment as an age that grows, with the exact time on hover and for machines.
import { ageText, exactText } from '../quantities.ts'
import { now } from '../state/clock.ts'

export function Age({ moment }: { moment: number }) {
  return (
    <time class="age" dateTime={new Date(moment).toISOString()} title={exactText(moment)}>
      {ageText(moment, now.value)}
    </time>
  )
}
