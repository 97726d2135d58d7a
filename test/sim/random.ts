// Deterministic draws: a number or a hex text as a pure function of a seed and coordinates. Keeps no state.

/** Streams keep draws about different things apart. */
export const streams = {
  address: 1,
  blockHash: 2,
  transactionHash: 3,
  permutation: 4,
  plan: 5,
  event: 6,
  activeSet: 7,
  branch: 8,
  fault: 9,
  contract: 10,
  signature: 11,
} as const

/** A uniform 32-bit integer. Coordinates must be integers below 2^32. */
export function draw(seed: number, stream: number, a = 0, b = 0, c = 0): number {
  let h = mix((seed ^ Math.imul(stream, 0x9e3779b1)) | 0)
  h = mix((h + Math.imul(a | 0, 0x85ebca77)) | 0)
  h = mix((h ^ Math.imul(b | 0, 0xc2b2ae3d)) | 0)
  h = mix((h + Math.imul(c | 0, 0x27d4eb2f)) | 0)
  return h >>> 0
}

/** True with the given probability. */
export function chance(probability: number, drawn: number): boolean {
  return drawn < probability * 0x1_0000_0000
}

/** Hex digits, eight a word, without a prefix. */
export function drawHex(words: number, seed: number, stream: number, a = 0, b = 0): string {
  let text = ''
  for (let word = 0; word < words; word++) text += hex8(draw(seed, stream, a, b, word))
  return text
}

/** Eight hex digits of an unsigned 32-bit integer. */
export function hex8(value: number): string {
  return hex4[value >>> 16]! + hex4[value & 0xffff]!
}

/** A 32-bit seed from any text. */
export function seedOf(text: string): number {
  let h = 0x811c9dc5
  for (let at = 0; at < text.length; at++) h = mix(Math.imul(h ^ text.charCodeAt(at), 0x01000193))
  return h >>> 0
}

export function mix(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

// Two look-ups a word are several times faster than toString and padStart, and hex is most of what the node writes.
const hex4 = Array.from({ length: 0x1_0000 }, (_, value) => value.toString(16).padStart(4, '0'))
