// The endpoints of a chain or a Solana network: whether they answer, how fast, and how they did over the last hour.
import { Badge } from '../parts/badge.tsx'
import { Panel } from '../parts/panel.tsx'
import { Table } from '../parts/table.tsx'
import { countText } from '../quantities.ts'
import { type Endpoint, past } from '../state/live.ts'
import { HealthStrip } from './health-strip.tsx'

type Props = {
  name: string
  rpc: readonly Endpoint[] | undefined
  height: 'head' | 'slot'
  /** The slot is known from the feed, which need not be of these endpoints. */
  isFed?: boolean
}

export function EndpointsPanel({ name, rpc, height, isFed = false }: Props) {
  const { lines } = past.value
  const healthOf = (endpoint: string) =>
    lines.find(line => line.chain === name && line.measure === 'healthy' && line.endpoint === endpoint)?.values ?? []
  return (
    <Panel id="endpoints" title="Endpoints" count={rpc?.length} flush>
      <Table
        columns={[
          'Endpoint',
          'State',
          'The last hour',
          { figures: height === 'head' ? 'Head' : 'Slot' },
          { figures: 'Latency' },
          { figures: 'Requests' },
          { figures: 'Errors' },
        ]}
        coming={2}
      >
        {rpc?.map(endpoint => (
          <tr key={endpoint.endpoint}>
            <th scope="row" data-title="Endpoint" class="mono">
              {endpoint.endpoint}
            </th>
            <td data-title="State">
              <Badge word={endpoint.healthy ? 'healthy' : 'failing'} />
              {!endpoint.healthy && <small class="reason">{endpoint.reason ?? endpoint.fault}</small>}
              {endpoint.history_from !== undefined && (
                <small> has blocks from {countText(endpoint.history_from)}</small>
              )}
            </td>
            <td data-title="The last hour" class="not-narrow">
              <HealthStrip values={healthOf(endpoint.endpoint)} subject={endpoint.endpoint} />
            </td>
            {height === 'slot' && endpoint.slot === undefined && (endpoint.requests ?? 0) > 0 ? (
              <td
                data-title="Slot"
                data-name="slot"
                class="number second soft"
                title="No answer of this endpoint has named a slot yet"
              >
                {isFed ? 'told by the feed' : 'none told yet'}
              </td>
            ) : (
              <Cell title={height === 'head' ? 'Head' : 'Slot'} value={endpoint[height]} word={height} />
            )}
            <Cell title="Latency" value={endpoint.latency_ms} unit="ms" />
            <Cell title="Requests" value={endpoint.requests} unit="request" isNarrowOnly />
            <Cell title="Errors" value={endpoint.errors} unit="error" isNarrowOnly />
          </tr>
        ))}
      </Table>
    </Panel>
  )
}

type CellProps = {
  title: string
  value: number | undefined
  unit?: string
  /** Something that is counted, in the singular: the column says it where there are columns. */
  isNarrowOnly?: boolean
  /** What a phone calls it. */
  word?: string
}

function Cell({ title, value, unit, isNarrowOnly = false, word }: CellProps) {
  return (
    <td data-title={title} data-name={word} class="number second">
      {value === undefined ? '–' : countText(Math.round(value))}
      {unit !== undefined && value !== undefined && (
        <span class={isNarrowOnly ? 'narrow-only' : undefined}>
          {' '}
          {unit}
          {isNarrowOnly && value !== 1 && 's'}
        </span>
      )}
    </td>
  )
}
