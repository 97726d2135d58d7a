// Hides the secrets of addresses before they reach a log, an error or a page. Providers put keys into user names, paths
// and queries, so only the scheme and the host remain.

export function redactUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || url.host === '') return '(hidden)'
  const rest = url.pathname.length > 1 || url.search !== '' || url.hash !== '' ? '/…' : ''
  const credentials = url.username !== '' || url.password !== '' ? '…@' : ''
  return `${url.protocol}//${credentials}${url.host}${rest}`
}

/** A store that is a file keeps its path; a server keeps its host and database. */
export function redactStore(text: string): string {
  if (!/^postgres(ql)?:/i.test(text)) return text
  const url = URL.parse(text)
  if (url === null) return '(hidden)'
  const credentials = url.username === '' ? '' : url.password === '' ? `${url.username}@` : `${url.username}:…@`
  return `${url.protocol}//${credentials}${url.host}${url.pathname}${url.search === '' ? '' : '?…'}`
}

/** Hides every address and every Almanac key in a text. */
export function redactText(text: string): string {
  return text
    .replace(/(?:https?|wss?|postgres(?:ql)?):\/\/[^\s"'<>\\)\]}]+/gi, redactUrl)
    .replace(/alm_[A-Za-z0-9_-]{8,}/g, 'alm_…')
}
