// Text to be read by machines, to be copied whole.
import { CopyButton } from './copy-button.tsx'

export function CodeView({ text, what }: { text: string; what: string }) {
  return (
    <div class="code-view">
      <CopyButton text={text} what={what} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  )
}
