// Text to be read by machines, to be copied whole.
import { Fragment } from 'preact'
import { CopyButton } from './copy-button.tsx'
import { type Language, tokensOf } from './highlight.ts'

type Props = {
  text: string
  what: string
  language?: Language
}

export function CodeView({ text, what, language }: Props) {
  return (
    <div class="code-view">
      <CopyButton text={text} what={what} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>
          {language === undefined
            ? text
            : tokensOf(text, language).map(({ kind, text: part }, at) =>
                kind === undefined ? (
                  part
                ) : (
                  <span key={at} class={`token-${kind}`}>
                    <Breakable text={part} />
                  </span>
                ),
              )}
        </code>
      </pre>
    </div>
  )
}

/** A long address breaks between its parts. */
function Breakable({ text }: { text: string }) {
  if (!text.includes('://')) return text
  return text.split(/(?<=[^/:])(?=\/)|(?=[?&])|(?<=,)|(?<==)(?=0x)/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
