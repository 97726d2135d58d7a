// Names of made-up collections: ordinary ones, ordinary ones with dangerous words, lures, and imitations. None is taken from the rules under test.
import type { RandomSource } from './random-source.ts'

const first =
  'Quiet Amber Lunar Neon Velvet Iron Paper Cosmic Tiny Wild Golden Silent Pixel Broken Ocean Ghost Crystal Desert Solar Mossy Electric Hollow Royal Frozen Wandering Last Burning Little Digital Marble'.split(
    ' ',
  )
const second =
  'Foxes Owls Gardens Machines Dreamers Robots Keepers Monks Turtles Letters Harbors Knights Wolves Lanterns Cubes Whales Sketches Orchids Pilots Towers Moths Samurai Ducks Totems Portals Heroes Skulls Cats Mirrors Rooms'.split(
    ' ',
  )
const endings = [
  '',
  '',
  '',
  ' Club',
  ' Genesis',
  ' Society',
  ' DAO',
  ' by Hana',
  ' 2',
  ' Editions',
  ' (Season 3)',
  ' World',
]
const tame = [
  ...['Free {}', '{} Rewards', 'The Gift: {}', '{} Airdrop', 'Lucky {}', '{}: Free Mint', 'Loyalty Rewards by {}'],
  ...['{} Mystery Box', '{} Gift Cards', '{} Holder Bonus', 'Prize {}', '{} Vouchers'],
]
const withLink = ['{}.xyz', '{}.wtf', '{} by studio.art', '{}.io Pass', '{} (www.{}.art)']

/** The verified collections of the made-up chain. */
export const verifiedNames = ['Bored Ape Yacht Club', 'CryptoPunks', 'Azuki', 'Doodles', 'Pudgy Penguins', 'Moonbirds']

export function ordinaryName(random: RandomSource): string {
  return `${random.pick(first)} ${random.pick(second)}${random.pick(endings)}`
}

/** Honest collections that use words and links as spam does. */
export function dangerousName(random: RandomSource): string {
  const base = `${random.pick(first)} ${random.pick(second)}`
  if (random.chance(0.3)) return random.pick(withLink).replaceAll('{}', base.replace(' ', '').toLowerCase())
  return random.pick(tame).replace('{}', base)
}

const sites = [
  'eth-{}.com',
  '{}-claim.xyz',
  'get{}.io',
  '{}drop.site',
  'app-{}.org',
  '{}.vip',
  'claim{}.net',
  '{}-gift.live',
]
const brands = ['uni', 'lido', 'blur', 'arb', 'usdc', 'ape', 'op', 'steth', 'aave', 'zk', 'layer', 'mask']
const lures = [
  ...[
    'Claim your reward at {site}',
    'USD {amount} {coin} - visit {site}',
    '{coin} Airdrop: {site}',
    'Visit {site} to claim {amount} {coin}',
  ],
  ...[
    '! {site} - eligible for {amount} {coin}',
    '{amount} {coin} voucher | {site}',
    'Reward Ticket ({site})',
    'Redeem {amount}$ at {site}',
  ],
  ...[
    'Mystery Box - open on {site}',
    '{coin} Giveaway {site}',
    '{amount} {coin} Reward, claim now',
    'Exclusive Voucher: redeem {amount} {coin}',
  ],
  ...[
    '领取 {amount} {coin} {site}',
    'Получите {amount} {coin} на {site}',
    'Reclama tu premio en {site}',
    '空投 {site}',
    '{coin} 에어드랍 {site}',
  ],
  ...['{site}に行って報酬を受け取る', 'Réclamez {amount} {coin} sur {site}', 'Hadiah {amount} {coin}: klaim di {site}'],
]

export function lureName(random: RandomSource): string {
  const site = random.pick(sites).replace('{}', random.pick(brands))
  const amount = String(random.magnitude(50, 20_000))
  const name = random
    .pick(lures)
    .replace('{site}', site)
    .replaceAll('{amount}', amount)
    .replaceAll('{coin}', random.pick(brands).toUpperCase())
  return random.chance(0.2) ? disguised(random, name) : name
}

/** Words without a place to go to: the link is in the picture. */
export function hintName(random: RandomSource): string {
  return random
    .pick(['{} Mystery Reward', 'Airdrop {}', '{} Prize Ticket', 'Free {} Gift', '{} Bonus Voucher'])
    .replace('{}', `${random.pick(first)} ${random.pick(second)}`)
}

/** Zero-width characters within words, full-width letters, or a dot that is none. */
function disguised(random: RandomSource, name: string): string {
  const form = random.between(0, 2)
  if (form === 0)
    return name.replace(/([a-z])([a-z])/g, (_, a: string, b: string) => (random.chance(0.2) ? `${a}\u200b${b}` : a + b))
  if (form === 1) return name.replace('.', random.pick(['\u2024', '[.]', ' . ']))
  return name.replace(/[A-Za-z]/g, letter => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0))
}

const looks: Record<string, readonly string[]> = {
  ...{ a: ['а', 'ɑ', 'ạ'], o: ['о', 'ο', '0'], e: ['е', 'ё', '3'], p: ['р', 'ρ'], c: ['с', 'ϲ'], i: ['і', 'ı', 'l'] },
  ...{ y: ['у', 'ү'], s: ['ѕ', '5'], k: ['к', 'κ'], u: ['υ', 'ս'], d: ['ԁ'], n: ['п', 'ո'], b: ['Ь'], t: ['т', 'τ'] },
}

/** A verified name in letters that look like its own, or with characters that nobody sees. */
export function lookAlikeName(random: RandomSource): string {
  const name = random.pick(verifiedNames)
  if (random.chance(0.25)) {
    const at = random.between(1, name.length - 1)
    return `${name.slice(0, at)}${random.pick(['\u200b', '\u200c', '\u2060', '\u00ad'])}${name.slice(at)}`
  }
  const places = [...name].flatMap((letter, at) => (looks[letter.toLowerCase()] === undefined ? [] : [at]))
  const letters = [...name]
  for (const at of random.sample(places, random.between(1, 3)))
    letters[at] = random.pick(looks[letters[at]!.toLowerCase()]!)
  return letters.join('')
}

export function symbolOf(name: string): string {
  return (
    name
      .replace(/[^A-Za-z]/g, '')
      .slice(0, 4)
      .toUpperCase() || 'NFT'
  )
}
