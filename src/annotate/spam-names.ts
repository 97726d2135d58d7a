// Finds links, lures, hidden characters and imitations in a contract's name and symbol, for the rules. Pure; the words
// are data.

/** Numbers, so that rules can be data; flags are 0 or 1. */
export type NameEvidence = {
  linkInName: number
  /** Words that promise or urge, in several languages; each counts once. */
  baitWords: number
  moneyInName: number
  /** A link or money together with the call to come for it. */
  lureInName: number
  invisibleInName: number
  /** Spelt like a verified collection. */
  sameNameAsVerified: number
  /** Looks like a verified collection and is spelt differently. */
  looksLikeVerified: number
}

const topLevels =
  'com|net|org|io|xyz|app|site|online|info|top|club|live|pro|vip|gift|gifts|claims|fun|cc|co|me|gg|ly|us|ru|cn|tk|ml|pw|lol|link|click|win|ws|biz|shop|store|website|events|finance|network|codes|cash|fyi|day|dev|art|wtf|tech|space|today|world'
const linkPatterns: readonly RegExp[] = [
  /https?:\/\/|www\.|t\.me\/|discord\.(gg|com)|bit\.ly/,
  new RegExp(`[\\p{L}\\p{N}-]{2,}\\s?(\\.|\\[\\.\\]|\\(dot\\)|。|․)\\s?(${topLevels})(?![a-z0-9-])`, 'u'),
  new RegExp(`[\\p{L}\\p{N}-]{2,}\\s(dot)\\s(${topLevels})(?![a-z0-9-])`, 'u'),
]

const moneyPattern =
  /[$€£]\s?\d|\d[\d,.]*\s?k?\s?\$|\d[\d,.]*\s?(usdt|usdc|usd|dai|eth|weth|steth|btc|bnb|matic|pol|arb|avax|blur|ape|uni|link|shib|pepe|dollars?)(?![\p{L}\p{N}])/u

/** An amount of any coin, by the capitals of its ticker. */
const tickerPattern = /\d{2,}\s?[A-Z]{2,5}(?![\p{L}\p{N}])/u

type WordKind = 'call' | 'promise'

type Words = readonly [kind: WordKind, language: string, list: string]

// Whole words where the script has spaces; parts of words elsewhere.
// biome-ignore format: one line an entry reads as the table it is.
const words: readonly Words[] = [
  ['call', 'en', 'claim|claims|claimable|redeem|redeemable|visit|eligible|activate|withdraw|swap at|go to|get your'],
  ['promise', 'en', 'reward|rewards|airdrop|airdrops|voucher|vouchers|bonus|giveaway|prize|free|gift|winner|lottery|jackpot|cashback|mystery box|lucky'],
  ['call', 'es', 'reclama|reclamar|canjea|canjear|visita|obtén|cobra'],
  ['promise', 'es', 'recompensa|recompensas|premio|premios|regalo|gratis|bono|sorteo'],
  ['call', 'pt', 'resgate|resgatar|reivindique|visite|receba'],
  ['promise', 'pt', 'recompensa|prêmio|prêmios|brinde|grátis|bônus'],
  ['call', 'fr', 'réclamez|réclamer|obtenez|échangez|visitez'],
  ['promise', 'fr', 'récompense|récompenses|cadeau|gratuit|gagnant'],
  ['call', 'de', 'einlösen|abholen|beanspruchen|besuche'],
  ['promise', 'de', 'belohnung|belohnungen|gewinn|gutschein|kostenlos|geschenk|preis'],
  ['call', 'ru', 'получи|получить|получите|забери|забрать|активируй'],
  ['promise', 'ru', 'награда|награды|аирдроп|эирдроп|приз|подарок|бонус|бесплатно'],
  ['call', 'tr', 'talep et|hemen al|ziyaret'],
  ['promise', 'tr', 'ödül|ödülü|hediye|bedava|ücretsiz'],
  ['call', 'id', 'klaim|tukarkan|kunjungi'],
  ['promise', 'id', 'hadiah|gratis|bonus'],
  ['call', 'vi', 'nhận ngay|nhận thưởng|truy cập'],
  ['promise', 'vi', 'phần thưởng|quà tặng|miễn phí'],
]
const wordParts: readonly Words[] = [
  ['call', 'zh', '领取|領取|兑换|兌換|领奖|访问'],
  ['promise', 'zh', '空投|奖励|獎勵|免费|奖金|礼品|红包'],
  ['call', 'ja', '受け取|請求|引き換え'],
  ['promise', 'ja', 'エアドロップ|報酬|無料|プレゼント'],
  ['call', 'ko', '받기|청구|받으세요'],
  ['promise', 'ko', '에어드랍|에어드롭|보상|무료|경품'],
  ['promise', 'ar', 'مكافأة|جائزة|مجانا'],
]

const wordPatterns = [
  ...words.map(([kind, , list]) => ({
    kind,
    pattern: new RegExp(`(?<![\\p{L}\\p{N}])(${list})(?![\\p{L}\\p{N}])`, 'gu'),
  })),
  ...wordParts.map(([kind, , list]) => ({ kind, pattern: new RegExp(`(${list})`, 'gu') })),
]

/** The names of verified collections by what they look like. */
export type VerifiedNames = ReadonlyMap<string, ReadonlySet<string>>

/** Shorter names are too common for a likeness to mean anything. */
const skeletonLengthMin = 5

export function verifiedNamesOf(names: Iterable<string>): VerifiedNames {
  const bySkeleton = new Map<string, Set<string>>()
  for (const name of names) {
    const skeleton = skeletonOf(name)
    if (skeleton.length < skeletonLengthMin) continue
    const spellings = bySkeleton.get(skeleton) ?? new Set()
    bySkeleton.set(skeleton, spellings.add(spellingOf(name)))
  }
  return bySkeleton
}

export function nameEvidence(
  { name = '', symbol = '' }: { name: string | undefined; symbol: string | undefined },
  verified: VerifiedNames,
): NameEvidence {
  const written = `${name} ${symbol}`
  const text = plainText(written)
  const found = { call: new Set<string>(), promise: new Set<string>() }
  for (const { kind, pattern } of wordPatterns) for (const [word] of text.matchAll(pattern)) found[kind].add(word)
  const link = linkPatterns.some(pattern => pattern.test(text))
  const money = moneyPattern.test(text) || tickerPattern.test(written.normalize('NFKC'))
  const calls = found.call.size > 0
  return {
    linkInName: Number(link),
    baitWords: found.call.size + found.promise.size,
    moneyInName: Number(money),
    lureInName: Number((link || money) && (calls || (link && money) || (link && found.promise.size > 0))),
    invisibleInName: invisibleCount(name) + invisibleCount(symbol),
    ...likeness(name, verified),
  }
}

/** Compares the whole name, and the name without bait words. */
function likeness(
  name: string,
  verified: VerifiedNames,
): Pick<NameEvidence, 'sameNameAsVerified' | 'looksLikeVerified'> {
  for (const candidate of [name, withoutBait(name)]) {
    const spellings = verified.get(skeletonOf(candidate))
    if (spellings === undefined) continue
    const same = spellings.has(spellingOf(candidate))
    return { sameNameAsVerified: Number(same), looksLikeVerified: Number(!same) }
  }
  return { sameNameAsVerified: 0, looksLikeVerified: 0 }
}

function withoutBait(name: string): string {
  let rest = name.toLowerCase()
  for (const { pattern } of wordPatterns) rest = rest.replace(pattern, ' ')
  return rest
}

// A plain character and its look-alikes, after NFKC and lower case have replaced mathematical, full-width and circled
// ones.
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

/** Counts invisible characters. Joiners within emoji do not count. */
export function invisibleCount(text: string): number {
  const withoutEmoji = text.replace(
    /\p{Extended_Pictographic}[\u200d\p{Variation_Selector}\p{Emoji_Modifier}\p{Extended_Pictographic}]*/gu,
    '',
  )
  return withoutEmoji.match(invisible)?.length ?? 0
}

/** Lower case, without invisible characters and with one form of each character. */
export function plainText(text: string): string {
  return text.normalize('NFKC').replace(invisible, '').toLowerCase()
}

/** What a name looks like: letters alone, look-alikes unified. Names with one skeleton are easily confused. */
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

/** Letters and digits as written, case aside. */
function spellingOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\p{M}\p{Cf}]/gu, '')
}
