// Text of the OpenAPI document. Of Markdown it uses paragraphs, headings and code between backticks, nothing else.

export function Prose({ text }: { text: string }) {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={part}>{part}</code>))
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
