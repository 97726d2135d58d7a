// Said in the place of what a chain would have that is not indexed here: what to add to the configuration, to be copied.
import type { ComponentChildren } from 'preact'
import { CodeView } from './code-view.tsx'
import { EmptyState } from './empty-state.tsx'

type Props = {
  chain: string
  /** One that is not known by its name is configured with its id. */
  isKnown?: boolean
  action?: ComponentChildren
}

export function NotConfigured({ chain, isKnown = true, action }: Props) {
  const network = /^solana (.*)/.exec(chain)?.[1]
  const lines =
    network === undefined
      ? [
          'chains:',
          `  ${chain}:`,
          ...(isKnown ? [] : [`    id: 31337 # its chain id`]),
          '    rpc: [http://127.0.0.1:8545]',
        ]
      : ['solana:', `  ${network}:`, '    rpc: [http://127.0.0.1:8899]']
  return (
    <EmptyState
      title={`${chain} is not configured here`}
      action={
        <>
          <CodeView text={lines.join('\n')} what="the settings" />
          {action}
        </>
      }
    >
      To index it, add it to almanac.yaml with an endpoint of yours; <code>almanac init</code> writes the same.{' '}
      <a href="/docs/settings.html">All settings</a>
    </EmptyState>
  )
}
