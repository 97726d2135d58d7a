// The title of the tab. A page may name its subject once it knows it; until then its address does.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** As the page that is shown wants it. */
export const namedTitle = signal<readonly string[] | undefined>(undefined)

/** Such as `useTitle('Sandbox Deeds', 'holders')`. Nothing is changed while the first part is not known. */
export function useTitle(subject: string | undefined, ...parts: readonly string[]): void {
  const text = subject === undefined ? undefined : [subject, ...parts].join('\n')
  useEffect(() => {
    if (text === undefined) return
    namedTitle.value = text.split('\n')
    return () => {
      namedTitle.value = undefined
    }
  }, [text])
}
