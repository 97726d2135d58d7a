// An address or a hash: short, whole on hover, to be copied, and leading on where there is a page about it.
import { shortText } from '../quantities.ts'
import { CopyButton } from './copy-button.tsx'

type Props = {
  text: string
  /** Such as `address`; ends "Copy …". */
  what: string
  href?: string | undefined
  /** What it is called, where it has a name. */
  label?: string | null | undefined
}

export function ReferenceText({ text, what, href, label }: Props) {
  const shown = label ?? shortText(text)
  return (
    <span class="address-text">
      {href === undefined ? (
        <span class={label ? 'label' : 'mono'} title={text}>
          {shown}
        </span>
      ) : (
        <a class={label ? 'label' : 'mono'} href={href} title={text}>
          {shown}
        </a>
      )}
      <CopyButton text={text} what={`${what} ${shortText(text)}`} />
    </span>
  )
}
