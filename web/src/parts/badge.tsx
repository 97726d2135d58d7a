// One word in a tinted box: the state of a chain, a network, an endpoint, a source or a key.
import type { LiveChain } from '../state/live.ts'

export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

const tones: Readonly<Record<string, Tone>> = {
  live: 'good',
  active: 'good',
  healthy: 'good',
  ready: 'good',
  backfilling: 'busy',
  waiting: 'busy',
  retrying: 'warn',
  stalled: 'bad',
  disputed: 'bad',
  store_full: 'bad',
  failing: 'bad',
  failed: 'bad',
  revoked: 'quiet',
  expired: 'quiet',
}

/** A chain at the head of its endpoints is still behind where that head is old. */
export function ChainBadge({ of: { state, head_old } }: { of: Pick<LiveChain, 'state' | 'head_old'> }) {
  if (state === 'live' && head_old === true) return <Badge word="live, old head" tone="warn" />
  return <Badge word={state} />
}

export function Badge({ word, tone = tones[word] ?? 'quiet' }: { word: string; tone?: Tone }) {
  return <span class={`badge badge-${tone}`}>{word}</span>
}
