// The moment of now, once a second, for ages that grow while they are looked at.
import { signal } from '@preact/signals'

export const now = signal(Date.now())

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now()
}, 1_000)
