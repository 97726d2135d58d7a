// What a service that was just started still lacks: a chain with a head, a request, a key for an application. Pure.
import type { LiveStatus } from '../state/live.ts'

export type Step = { title: string; text: string; page: readonly string[]; isDone: boolean }

/** `otherKeys`: how many active keys there are beside the one in use; undefined where that is not known. */
export function firstSteps({ chains, solana, api }: LiveStatus, otherKeys: number | undefined): Step[] {
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
      isDone: (api?.requests_today ?? 0) > 0,
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
