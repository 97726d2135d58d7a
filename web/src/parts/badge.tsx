// One word in a tinted box: the state of a chain, a network, an endpoint, a source or a key.

export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

const tones: Readonly<Record<string, Tone>> = {
  live: 'good',
  active: 'good',
  healthy: 'good',
  ready: 'good',
  backfilling: 'busy',
  waiting: 'busy',
  stalled: 'bad',
  disputed: 'bad',
  store_full: 'bad',
  failing: 'bad',
  failed: 'bad',
  revoked: 'quiet',
  expired: 'quiet',
}

export function Badge({ word, tone = tones[word] ?? 'quiet' }: { word: string; tone?: Tone }) {
  return <span class={`badge badge-${tone}`}>{word}</span>
}
