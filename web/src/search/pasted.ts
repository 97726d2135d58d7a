// What somebody pasted into the search of the documentation: an address or a hash, which a page explains only by chance.
// Pure.

/** What it is, in words; undefined for a question. */
export function pastedKind(given: string): string | undefined {
  const text = given.trim()
  if (/^0x[\da-f]{40}$/i.test(text)) return 'an address'
  if (/^0x[\da-f]{64}$/i.test(text)) return 'a hash'
  // Base58 of 32 bytes. A long name in one word has no digits.
  const isKey = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) && /\d/.test(text) && /[A-Z]/.test(text)
  return isKey ? 'a Solana address' : undefined
}

/** Where it can be looked up, for those who read the pages without a service beside them too. */
export function lookUpText(kind: string): string {
  const explained = kind === 'an address' ? ', and `almanac explain <chain> <address>` says what is indexed of it' : ''
  return `This is ${kind}. The docs do not list these: look it up in the search of the console${explained}.`
}
