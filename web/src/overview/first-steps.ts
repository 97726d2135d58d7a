// What a service that was just started still lacks: a chain with a head, a request, a key for an application. Pure.
import type { LiveStatus } from '../state/live.ts'

export type Step = {
  title: string
  text: string
  page: readonly string[]
  query?: Readonly<Record<string, string>>
  isDone: boolean
}

type Known = {
  told: Pick<LiveStatus, 'chains' | 'solana' | 'api'>
  /**
   * Beside the key in use and the operator's own: how many work, and how many of these sent a request of late. Undefined
   * where that is not known.
   */
  otherKeys: { active: number; used: number } | undefined
}

export function firstSteps({ told: { chains, solana, api }, otherKeys }: Known): Step[] {
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
    ...(otherKeys === undefined
      ? []
      : [
          {
            title: 'Create a key for your application',
            text: 'With its own scopes and limits, so that it can be revoked alone.',
            page: ['keys'],
            query: { new: 'client' },
            isDone: otherKeys.active > 0,
          },
        ]),
    {
      title: otherKeys === undefined ? 'Send a request' : 'Send a request with it',
      text: 'Each operation has its command, to be copied. What this console asks does not count.',
      page: ['explore'],
      // The sandbox asks itself with the operator's key as it starts.
      isDone: otherKeys === undefined ? (api?.requests_today ?? 0) > 0 : otherKeys.used > 0,
    },
  ]
}
