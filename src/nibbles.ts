// The values of hex digits by their character codes, for loops that read digits one by one. Nothing else of hex is here.

/** What stands for a character that is no digit: above all that two digits can make. */
export const noNibble = 0x100

/** Up to the last ASCII character; those beyond are undefined. */
export const nibbles = new Uint16Array(128).fill(noNibble)
for (let digit = 0; digit < 16; digit++) {
  nibbles[digit.toString(16).charCodeAt(0)] = digit
  nibbles[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}
