// An address, a hash or an id in full, with the button that copies it at its end, wherever the line breaks.
import { CopyButton } from './copy-button.tsx'

export function WholeText({ text, what }: { text: string; what: string }) {
  // What is a little too long for a phone has two lines alike, and not one of a last letter.
  const middle = Math.ceil(text.length / 2)
  return (
    <span class="whole-text">
      <span class="mono whole">
        {text.slice(0, middle)}
        <wbr />
        {text.slice(middle)}
      </span>
      <CopyButton text={text} what={what} />
    </span>
  )
}
