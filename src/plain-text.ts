// Text that nodes, contracts and clients choose, without the characters that a terminal or a page obeys. Pure.

/** Line ends of Unicode, and the characters that change the direction of others. Joiners stay: emoji need them. */
const directing = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** One line for a terminal, a log or an error. */
export function plainText(text: string, instead = ''): string {
  return text.replace(unsafe, instead)
}

/** A name in an answer; JSON escapes its control characters. Portfolios have thousands: most cost one quick search. */
export function plainName(name: string): string {
  return directing.test(name) ? plainText(name) : name
}
