// An address, a hash or an id in full, with the button that copies it at its end, wherever the line breaks.
import { CopyButton } from './copy-button.tsx'

export function WholeText({ text, what }: { text: string; what: string }) {
  return (
    <span class="whole-text">
      <span class="mono whole">{text}</span>
      <CopyButton text={text} what={what} />
    </span>
  )
}
