// Characters that look like others, and those that cannot be seen: what a name looks like, apart from how it is written. Pure data and two functions.

// Groups of a plain character and what passes for it, after NFKC and lower case have dealt with the mathematical, full-width and circled ones.
const groups: readonly string[] = [
  ...['aаαɑạąăȧ4@', 'bЬьвƅ6', 'cсϲςçćčċ', 'dԁɗđ', 'eеёεєęėéèêë3€', 'fғƒ', 'gɡğġց9', 'hһհн', 'iіїíìîïɩɪιı', 'jјʝ'],
  ...['kкκķ', 'l1ӏ|ⅼłĺļ', 'mмṃ', 'nпոηñńňņ', 'oоοօσøōóòôö0', 'pрρþ', 'qԛգ', 'rгŗŕř', 'sѕʂśšş5$', 'tтτţť7+'],
  ...['uυսцúùûüūů', 'vνѵ', 'wԝωшẃ', 'xхχ×', 'yуүýÿγ', 'zʐžźż2'],
]

const plainOf = new Map<string, string>()
for (const group of groups) {
  const [plain, ...others] = [...group]
  for (const other of others) plainOf.set(other, plain as string)
}

/** Format characters, fillers, variation selectors and combining marks that pile up. */
const invisible = /[\p{Cf}\p{Cc}\u115f\u1160\u3164\uffa0\u2800\p{Variation_Selector}]/gu

/** What is not seen in a text. Joiners within emoji are how those are written. */
export function invisibleCount(text: string): number {
  const withoutEmoji = text.replace(
    /\p{Extended_Pictographic}[\u200d\p{Variation_Selector}\p{Emoji_Modifier}\p{Extended_Pictographic}]*/gu,
    '',
  )
  return withoutEmoji.match(invisible)?.length ?? 0
}

/** Lower case, without what cannot be seen and with one form of each character. */
export function plainText(text: string): string {
  return text.normalize('NFKC').replace(invisible, '').toLowerCase()
}

/** What a name looks like: letters alone, look-alikes made one. Two names with one skeleton are easily taken for each other. */
export function skeletonOf(text: string): string {
  let skeleton = ''
  for (const character of plainText(text).normalize('NFC')) skeleton += plainOf.get(character) ?? character
  return skeleton
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('i', 'l')
}

/** Letters and digits as they are written, case aside: what two spellings of one name share. */
export function spellingOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\p{M}\p{Cf}]/gu, '')
}
