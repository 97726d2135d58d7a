// Text of the OpenAPI document. Of Markdown it uses paragraphs, headings, code between backticks and links within this service, nothing
// else.

/** Such as a scope or a setting: it would break at its hyphens, and still fits a phone. */
const wholeName = /^`[\w.-]{1,26}`$/

export function Prose({ text }: { text: string }) {
  return text.split(/(`[^`]*`|\[[^\]]*\]\(\/[^)]*\))/).map((part, index) => {
    if (index % 2 === 0) return part
    if (part.startsWith('`'))
      return (
        <code key={part} class={wholeName.test(part) ? 'unbroken' : undefined}>
          {part.slice(1, -1)}
        </code>
      )
    const [title = '', href = ''] = part.slice(1, -1).split('](')
    return (
      <a key={part} href={href}>
        {title}
      </a>
    )
  })
}

export function Paragraphs({ text }: { text: string }) {
  return text.split('\n\n').map(part =>
    part.startsWith('## ') ? (
      <h2 key={part}>{part.slice('## '.length)}</h2>
    ) : (
      <p key={part}>
        <Prose text={part} />
      </p>
    ),
  )
}
