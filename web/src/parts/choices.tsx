// Links of which one is where the reader is: operations, views of a wallet, chains.

type Choice = { title: string; href: string; isHere: boolean }

export function Choices({ label, choices }: { label: string; choices: readonly Choice[] }) {
  return (
    <nav class="choices" aria-label={label}>
      {choices.map(({ title, href, isHere }) => (
        <a key={title} href={href} aria-current={isHere ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}
