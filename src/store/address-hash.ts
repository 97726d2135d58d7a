// A hash of the 20 bytes of an address where they stand in a page, without a text in between. It is no fingerprint: whoever finds
// something by it compares the address.

export function addressHash(bytes: Uint8Array, at: number): number {
  return hashOfWords(addressWord(bytes, at), addressWord(bytes, at + 16))
}

/** From the first and the last four bytes: addresses that were chosen for their looks are alike at one of both ends, hardly ever at both. */
export function hashOfWords(first: number, last: number): number {
  return mixed(Math.imul(first, 0x9e3779b1) ^ last)
}

/** Four bytes from `at` on. */
export function addressWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** The finaliser of MurmurHash3. */
function mixed(word: number): number {
  let hash = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
