// What a name may look like in an answer: one line of visible text. Pure.

export const labelCharactersMax = 200

/** `notes` say what was changed; `problem` why nothing is left that could be shown. */
export type LabelText = { label: string; notes: readonly string[] } | { problem: string }

const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const whiteSpace = /[\s\u0085]+/gu
const control = /\p{Cc}/gu
/** Characters that show nothing and can make one name look like another; joiners stay, emoji are made with them. */
const invisible =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]/gu

export function cleanLabel(given: string): LabelText {
  if (given.length <= labelCharactersMax && plain.test(given) && !given.includes('  '))
    return { label: given, notes: [] }
  if (!given.isWellFormed() || given.includes('\ufffd')) return { problem: 'the name is not UTF-8 text' }
  const notes: string[] = []
  const oneLine = given.replace(whiteSpace, ' ').trim()
  const visible = oneLine.replace(control, '').replace(invisible, '').normalize('NFC').replace(/ {2,}/g, ' ').trim()
  if (control.test(oneLine) || /[\r\n\v\f\u0085\u2028\u2029]/u.test(given.trim()))
    notes.push('control characters were removed')
  if (oneLine.search(invisible) !== -1) notes.push('invisible characters were removed')
  if (visible === '') return { problem: given === '' ? 'the name is empty' : 'nothing of the name can be seen' }
  const characters = [...visible]
  if (characters.length <= labelCharactersMax) return { label: visible, notes }
  notes.push(`cut to ${labelCharactersMax} characters`)
  return { label: characters.slice(0, labelCharactersMax).join('').trimEnd(), notes }
}
