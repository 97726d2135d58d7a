// Which guides of the docs belong to an operation: the one table of them. Pure.
import type { Entry } from './entries.ts'

export type Guide = { title: string; href: string }

const guide = (name: string, title: string): Guide => ({ title, href: `/docs/guides/${name}.html` })

const pages = guide('pages', 'Pagination')
const wholeLists = guide('whole-lists', 'Whole lists')

/** By subject, as `entries.ts` has them. */
const bySubject: Readonly<Record<string, Guide>> = {
  'NFT transfers': guide('complete-answers', 'Is this answer complete?'),
  'NFTs and owners': guide('who-owns-what', 'Who owns what'),
  'ERC-20 tokens': guide('erc-20', 'ERC-20 tokens'),
  'Following transfers': guide('follow-transfers', 'Follow new transfers'),
  Wallets: guide('complete-answers', 'Is this answer complete?'),
  'Blocks and dates': guide('complete-answers', 'Is this answer complete?'),
  Solana: guide('solana', 'Solana'),
  'About the API': guide('moving', 'Migrate from Moralis'),
  Service: guide('operating', 'Operating a running service'),
  Keys: guide('keys-and-limits', 'Keys and limits'),
}
const balances = guide('balances', 'Native balances')
const webhooks = guide('react-to-transfers', 'React to transfers')

/** The fitting one first. */
export function guidesOf({ subject, operation }: Entry): Guide[] {
  const isBalance = operation['x-scope'] === 'balances'
  const isWebhook = operation.path.startsWith('/webhooks')
  const first = isBalance ? balances : isWebhook ? webhooks : bySubject[subject]
  const hasPages = (operation.parameters ?? []).some(({ name }) => name === 'cursor')
  return [...(first === undefined ? [] : [first]), ...(hasPages ? [pages] : [])]
}

/** Where the list can be sent whole. */
export function wholeListGuideOf({ operation }: Entry): Guide | undefined {
  return 'text/csv' in (operation.responses[200]?.content ?? {}) ? wholeLists : undefined
}
