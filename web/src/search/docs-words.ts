// What the words of a question mean to the search of the documentation: those that say nothing, and those for which the
// pages have another word. It searches nothing.

const fillers = new Set(
  `a all an and any are as at be but by can do does for from get give has have here how i if in into is it its let list make many me
  much my nothing of on or our own please should so some than that the their them then there these they this those to use
  using via want was we what when where which who why will with without would you your`.split(/\s+/),
)

/** Another word for it, or several that belong together. Found as well, not instead. */
const meanings: Readonly<Record<string, string>> = {
  ...{ migrate: 'moving', migration: 'moving', migrating: 'moving', switching: 'moving' },
  ...{ paginate: 'cursor', pagination: 'cursor', paginating: 'cursor', paging: 'cursor' },
  ...{ ratelimit: 'rate limit', ratelimits: 'rate limit', ratelimiting: 'rate limit', throttling: 'rate limit' },
  ...{ auth: 'key', authentication: 'key', authenticate: 'key', apikey: 'key', apikeys: 'key' },
  ...{ compose: 'docker', container: 'docker', containers: 'docker', k8s: 'kubernetes', helm: 'kubernetes' },
  ...{ https: 'tls', ssl: 'tls', db: 'store', database: 'store', config: 'settings', configuration: 'settings' },
  ...{ prometheus: 'metrics', monitoring: 'metrics', update: 'upgrades', holder: 'owner', holders: 'owner' },
  ...{
    export: 'whole lists',
    delete: 'removing',
    erc20: 'erc 20',
    erc721: 'nft',
    hardhat: 'development',
    anvil: 'development',
    mcp: 'agents',
  },
}

/** Says nothing of a page. */
export function isFiller(term: string): boolean {
  return fillers.has(term.toLowerCase())
}

/** What is looked for instead of each word of a question: the word itself, or all words of another that means it. */
export type Word = readonly (readonly string[])[]

/** Where a question has nothing but fillers, they are what is asked for. */
export function wordsOf(asked: string, saysNothing = isFiller): Word[] {
  const all = asked.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const telling = all.filter(word => !saysNothing(word))
  return (telling.length > 0 ? telling : all).map(word => {
    const meaning = Object.hasOwn(meanings, word) ? meanings[word]! : undefined
    return meaning === undefined ? [[word]] : [[word], meaning.split(' ')]
  })
}
