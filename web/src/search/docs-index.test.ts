import { expect, test } from 'vitest'
import { type DocsEntry, docsIndexOf } from './docs-index.ts'
import { wordsOf } from './docs-words.ts'

const pages = [
  { title: 'Correctness', text: 'Correct answers.' },
  { title: 'Browsers', text: 'List origins under cors.origins.' },
  { title: 'Moving', text: 'From the hosted service.' },
  { title: 'Limits', text: 'The rate of a key.' },
  { title: 'store_full', text: 'The disk is full.' },
  { title: 'A full store', text: 'What to do when store_full is answered; store_full again.' },
]
const entries = pages.map((page, id) => ({ id, page: page.title, code: '', href: `${id}`, ...page }))
const asked = [
  { title: 'NFTs of a wallet', text: 'GET /{address}/nft', code: 'getNFTs getNFTsV22', operation: 'getNFTsV22' },
  { title: 'getNFTs elsewhere', text: 'GET /nft', code: 'getNFTsOld', operation: 'getNFTsOld' },
].map((operation, at) => ({ id: pages.length + at, page: 'NFTs', href: `${pages.length + at}`, ...operation }))
const search = docsIndexOf([...entries, ...asked])
const titles = (text: string, options = {}) => search(text, options).map(({ title }) => title)

test('filler words are left out, unless there are no others', () => {
  expect(wordsOf('How do I migrate to it?')).toEqual([[['migrate'], ['moving']]])
  expect(wordsOf('who is it')).toEqual([[['who']], [['is']], [['it']]])
  expect(wordsOf('constructor')).toEqual([[['constructor']]])
})

test('other words for the same are found, in headings too', () => {
  expect(titles('how do I migrate')).toEqual(['Moving'])
  expect(titles('migration', { inHeadings: true })).toEqual(['Moving'])
  // Beside other things every word counts.
  expect(titles('nothing is moving', { inHeadings: true })).toEqual([])
  expect(titles('ratelimit')).toEqual(['Limits'])
})

test('a name as it is comes first, then whole words, then beginnings', () => {
  expect(titles('store_full')[0]).toBe('store_full')
  expect(titles('A full store')[0]).toBe('A full store')
  expect(titles('GETNFTS')[0]).toBe('NFTs of a wallet')
  // What is left of a short word without its ending begins many others.
  expect(titles('cors')).toEqual(['Browsers'])
  expect(titles('corr')).toEqual(['Correctness'])
})

test('so many whole words leave out beginnings and what is last, and internals come after what is for users', () => {
  const texts = ['One chart.', 'A chart.', 'The chart.', 'Chartreuse hills.', 'A chart of all.', 'Chart of the code.']
  const marks: Partial<DocsEntry>[] = [{}, {}, {}, {}, { isLast: true }, { isInternal: true }]
  const some = texts.map((text, id) => ({
    id,
    page: `${id}`,
    title: `${id}`,
    text,
    code: '',
    href: `${id}`,
    ...marks[id],
  }))
  const found = (asked: string, from: readonly DocsEntry[]) => docsIndexOf(from)(asked).map(({ title }) => title)
  expect(found('charts', some)).toEqual(['0', '1', '2', '5'])
  expect(found('chartr', some)[0]).toBe('3')
  expect(found('chart', some.slice(3))).toEqual(['3', '5', '4'])
})

test('where nothing has all words, what misses the fewest comes first', () => {
  const found = search('hosted service zyzzyva')
  expect(found.map(({ title, isClose }) => [title, isClose])).toEqual([['Moving', true]])
  expect(titles('disk full zyzzyva')[0]).toBe('store_full')
  expect(titles('disk full zyzzyva', { inHeadings: true })).toEqual([])
  expect(titles('zyzzyva')).toEqual([])
})
