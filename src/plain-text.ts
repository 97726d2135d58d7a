// Text that nodes, contracts and clients choose, as one line that neither a terminal nor a page obeys. Pure.

/** Control characters, line ends, and the characters that change the direction of others. Joiners stay: emoji need them. */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

export function plainText(text: string, instead = ''): string {
  return text.replace(unsafe, instead)
}
