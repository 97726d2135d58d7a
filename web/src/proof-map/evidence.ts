// How it is known that blocks are complete: the kinds of evidence in words, the strongest first.
import type { Coverage } from '../state/live.ts'

export type Evidence = Coverage['intervals'][number]['evidence']

export const evidences: readonly { name: Evidence; title: string; meaning: string }[] = [
  {
    name: 'canonical',
    title: 'canonical',
    meaning: 'as receipts root, and the header is proven to be the chain’s without a node',
  },
  {
    name: 'receipts-root',
    title: 'receipts root',
    meaning: 'all receipts and transactions hash to the header’s roots',
  },
  {
    name: 'bloom',
    title: 'bloom',
    meaning: 'the bloom of all logs equals the header’s; it does not hold ids and amounts',
  },
  { name: 'two-endpoints', title: 'two endpoints', meaning: 'endpoints of two hosts gave the same' },
  {
    name: 'one-endpoint',
    title: 'one endpoint',
    meaning: 'the word of one endpoint, or blocks of files or a portal that nothing connects to the chain yet',
  },
]
