// Why something does not work: what to do about it, and softly below it what a machine said.
import { splitReason } from '../reasons.ts'

export function ReasonText({ text }: { text: string }) {
  const { said, advice } = splitReason(text)
  if (advice === undefined) return <p>{said}</p>
  return (
    <>
      <p>{advice}</p>
      <small class="said">{said}</small>
    </>
  )
}
