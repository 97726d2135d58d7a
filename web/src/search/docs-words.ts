// What the words of a question mean to the search of the documentation: those that say nothing, and those for which the
// pages have another word. It searches nothing.

const fillers = new Set(
  `a about all am an and any are as at be been but by can could did do does for from get give handle handling has have
  here how i if in into is it its let list make many me mean meaning means much must my need nothing of on or our own
  please should show so some tell than that the their them then there these they this those to use using via want was we what
  when where which who why will with without would you your`.split(/\s+/),
)

/** Says nothing before another word: `api` of a key, and `http` of a status. */
const saysNothingBefore = /\b(?:api(?=\s+keys?\b)|http(?=\s+[1-5]\d\d\b))/gi

/** Written in two words too. */
const inTwo: readonly [apart: RegExp, whole: string][] = [
  [/\bback(?:ing|ed)?[ -]?ups?\b/gi, 'backup'],
  [/\bweb[ -]sockets?\b/gi, 'websocket'],
  [/\btest[ -]?data\b/gi, 'sandbox'],
]

/** A block or a token of a question stands on no page; the status of an answer and the number of a standard do. */
const someNumber = /(?<!\berc[ -]?)\b(?![345]\d\d\b)(?:0x[\da-f]+|\d+)\b/gi

/** Another word for it, or several that belong together. Found as well, not instead. */
const meanings: Readonly<Record<string, string>> = {
  ...{ migrate: 'moving', migration: 'moving', migrating: 'moving', switching: 'moving' },
  ...{ paginate: 'cursor', pagination: 'cursor', paginating: 'cursor', paging: 'cursor' },
  ...{ ratelimit: 'rate limit', ratelimits: 'rate limit', ratelimiting: 'rate limit', throttling: 'rate limit' },
  ...{
    auth: 'authentication',
    authenticate: 'authentication',
    authorization: 'authentication',
    login: 'authentication',
    apikey: 'key',
    apikeys: 'key',
  },
  ...{ compose: 'docker', container: 'docker', containers: 'docker', k8s: 'kubernetes', helm: 'kubernetes' },
  ...{ https: 'tls', ssl: 'tls', db: 'store', database: 'store', config: 'settings', configuration: 'settings' },
  ...{ prometheus: 'metrics', monitoring: 'metrics', update: 'upgrades', holder: 'owner', holders: 'owner' },
  ...{
    export: 'whole lists',
    delete: 'removing',
    erc20: 'erc 20',
    erc1155: 'erc 1155',
    erc721: 'nft',
    hardhat: 'development',
    anvil: 'development',
    mcp: 'agents',
  },
  ...{ ownership: 'owner', watch: 'follow', poll: 'follow', polling: 'follow', frontend: 'browser' },
  ...{ multiple: 'several', bulk: 'several', images: 'pictures', image: 'pictures', docs: 'documentation' },
  ...{ support: 'serve', supports: 'serve', supported: 'serve', unsupported: 'serve' },
  ...{ lost: 'lose', forgot: 'lose', forgotten: 'lose', recover: 'lose', regenerate: 'rotate', renew: 'rotate' },
  ...{ sort: 'order', sorted: 'order', sorting: 'order', ascending: 'oldest', asc: 'oldest', desc: 'newest' },
  ...{ dump: 'backup', playground: 'sandbox', demo: 'sandbox', ws: 'websocket', websockets: 'websocket' },
  ...{ historical: 'past', historic: 'past', total: 'count', counts: 'count', testnet: 'sepolia', testnets: 'sepolia' },
}

/** Says nothing of a page. */
export function isFiller(term: string): boolean {
  return fillers.has(term.toLowerCase())
}

/** What is looked for instead of each word of a question: the word itself, or all words of another that means it. */
export type Word = readonly (readonly string[])[]

/**
 * Where a question has nothing but fillers, they are what is asked for. A name such as `getTokenBalances` also means its
 * parts.
 */
export function wordsOf(asked: string, saysNothing = isFiller): Word[] {
  const wordsIn = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? []
  const text = inTwo.reduce(
    (so, [apart, whole]) => so.replaceAll(apart, whole),
    asked.replaceAll(saysNothingBefore, ''),
  )
  const all = wordsIn(text)
  const telling = wordsIn(text.replaceAll(someNumber, '')).filter(word => !saysNothing(word))
  return (telling.length > 0 ? telling : all).map(given => {
    const word = given.toLowerCase()
    const meaning = Object.hasOwn(meanings, word) ? meanings[word]!.split(' ') : partsOf(given)
    return meaning === undefined ? [[word]] : [[word], meaning]
  })
}

/** Owners, owner and owns are one word to somebody who looks for them. */
export function stemOf(term: string): string {
  return term.toLowerCase().replace(/(?<=...)(ers?|ing|ed|s)$/, '')
}

function partsOf(name: string): string[] | undefined {
  const parts = name.split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map(part => part.toLowerCase())
  const telling = parts.filter(part => !isFiller(part))
  return parts.length > 2 && telling.length > 1 ? telling : undefined
}
