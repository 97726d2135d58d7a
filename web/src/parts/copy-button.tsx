// A small button that copies a text, and says that it did. A primary one is what to do next, and says so in words.
import { useSignal } from '@preact/signals'
import { CheckIcon, CopyIcon } from './icons.tsx'

const saidMs = 1_500

type Props = { text: string | (() => string); what: string; isPrimary?: boolean; onCopied?: () => void }

/** A text that takes time to make is made when it is wanted. */
export function CopyButton({ text, what, isPrimary = false, onCopied }: Props) {
  const said = useSignal<'copied' | 'failed' | undefined>(undefined)
  const copy = async () => {
    said.value = await navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => 'copied' as const,
      () => 'failed' as const,
    )
    if (said.value === 'copied') onCopied?.()
    setTimeout(() => {
      said.value = undefined
    }, saidMs)
  }
  const label = said.value === 'copied' ? 'Copied' : said.value === 'failed' ? 'Cannot copy here' : `Copy ${what}`
  if (isPrimary)
    return (
      <button type="button" class="primary" onClick={copy}>
        {label}
      </button>
    )
  return (
    <button type="button" class="icon-button" onClick={copy} title={label} aria-label={label}>
      {said.value === 'copied' ? <CheckIcon /> : <CopyIcon />}
    </button>
  )
}
