// What a service that was just started still lacks: a chain with a head, a request, a key for an application. Pure.
import type { LiveStatus } from '../state/live.ts'
import type { Past } from '../state/past.ts'

export type Step = { title: string; text: string; page: readonly string[]; isDone: boolean }

type Known = {
  told: Pick<LiveStatus, 'chains' | 'solana'>
  past: Pick<Past, 'lines'>
  /** How many active keys there are beside the one in use; undefined where that is not known. */
  otherKeys: number | undefined
}

export function firstSteps({ told: { chains, solana }, past, otherKeys }: Known): Step[] {
  const hasHead =
    Object.values(chains).some(({ head }) => head >= 0) || Object.values(solana).some(({ slot }) => slot > 0)
  const [chain] = [...Object.keys(chains), ...Object.keys(solana).map(name => `solana ${name}`)]
  return [
    {
      title: 'Reach a chain',
      text: hasHead ? 'Blocks are read from its node.' : 'No node has told a block yet.',
      page: chain === undefined ? [''] : ['chain', chain],
      isDone: hasHead,
    },
    {
      title: 'Send a request',
      text: 'Each operation has a form, with an example that answers here.',
      page: ['explore'],
      // The count of a day has those of the console too.
      isDone: past.lines.some(({ measure, values }) => measure === 'requests_per_second' && values.some(Boolean)),
    },
    ...(otherKeys === undefined
      ? []
      : [
          {
            title: 'Create a key for your application',
            text: 'With its own scopes and limits, so that it can be revoked alone.',
            page: ['keys'],
            isDone: otherKeys > 0,
          },
        ]),
  ]
}
