// How it is known that blocks are complete: the kinds of evidence in words, the strongest first.
import type { Coverage } from '../state/live.ts'

export type Evidence = Coverage['intervals'][number]['evidence']

export const evidences: readonly { name: Evidence; title: string; meaning: string }[] = [
  { name: 'receipts-root', title: 'receipts root', meaning: 'recomputed from every receipt and equal to the header' },
  { name: 'bloom', title: 'bloom', meaning: 'the bloom of all logs equals the header’s' },
  { name: 'two-endpoints', title: 'two endpoints', meaning: 'two endpoints gave the same logs' },
  { name: 'one-endpoint', title: 'one endpoint', meaning: 'the word of one endpoint' },
]
