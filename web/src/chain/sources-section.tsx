// The files and portals that give a chain's history: what they have, and what they got wrong.

import { Badge } from '../parts/badge.tsx'
import { Panel } from '../parts/panel.tsx'
import { Table } from '../parts/table.tsx'
import { countText } from '../quantities.ts'
import type { LiveChain } from '../state/live.ts'

type Source = NonNullable<LiveChain['sources']>[number]

export function SourcesSection({ sources }: { sources: readonly Source[] }) {
  return (
    <Panel id="sources" title="Sources of history" count={sources.length} flush>
      <Table columns={['Source', 'State', { figures: 'Blocks' }, { figures: 'From' }, { figures: 'To' }]}>
        {sources.map(({ kind, name, state, reason, blocks, from, to }) => (
          <tr key={`${kind} ${name}`}>
            <th scope="row" data-title="Source">
              {kind} <span class="mono">{name}</span>
            </th>
            <td data-title="State">
              <Badge word={state} />
              {reason !== undefined && <small class="reason">{reason}</small>}
            </td>
            <td data-title="Blocks" class="number second">
              {countText(blocks)}
            </td>
            <td data-title="From" class="number second">
              {from === undefined ? '–' : countText(from)}
            </td>
            <td data-title="To" class="number second">
              {to === undefined ? '–' : countText(to)}
            </td>
          </tr>
        ))}
      </Table>
      {sources.map(source => source.refused.length > 0 && <Refused key={source.name} source={source} />)}
    </Panel>
  )
}

function Refused({ source: { name, refused } }: { source: Source }) {
  return (
    <div class="note note-bad">
      <p>
        Not used of <span class="mono">{name}</span>, because it is wrong; other sources are asked for these blocks:
      </p>
      <ul>
        {refused.map(({ name: part, block, reason }) => (
          <li key={`${part} ${block ?? ''}`}>
            <span class="mono">{part}</span>
            {block !== undefined && `, block ${countText(block)}`}: {reason}
          </li>
        ))}
      </ul>
    </div>
  )
}
