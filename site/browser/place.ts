// Where the page stands: where the site begins, and whether the service serves it. It changes nothing.

/** Of the script that runs now: it is asked for before anything waits. */
export const root = (document.currentScript as HTMLScriptElement | null)?.dataset.root ?? ''

/** Only the service has a console and a reference beside these pages. */
export const isServed = location.protocol !== 'file:' && location.pathname.startsWith('/docs/')

export function referenceOf(operation: string, values: Readonly<Record<string, string>> = {}): string {
  const query = String(new URLSearchParams(values))
  return `/reference#/${operation}${query === '' ? '' : `?${query}`}`
}
