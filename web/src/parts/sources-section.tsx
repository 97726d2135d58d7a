// The files and portals that give a chain's history: what they have, and what they got wrong.
import { countText } from '../quantities.ts'
import type { LiveChain } from '../state/live.ts'
import { Badge } from './badge.tsx'
import { TableHead } from './table-head.tsx'

type Source = NonNullable<LiveChain['sources']>[number]

export function SourcesSection({ sources }: { sources: readonly Source[] }) {
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">Sources of history</h2>
      <div class="table-scroll">
        <table class="stacked">
          <TableHead columns={['Source', 'State', { figures: 'Blocks' }, { figures: 'From' }, { figures: 'To' }]} />
          <tbody>
            {sources.map(({ kind, name, state, reason, blocks, from, to }) => (
              <tr key={`${kind} ${name}`}>
                <th scope="row" data-title="Source">
                  {kind} <span class="mono">{name}</span>
                </th>
                <td data-title="State">
                  <Badge word={state} />
                  {reason !== undefined && <small class="reason">{reason}</small>}
                </td>
                <td data-title="Blocks" class="number">
                  {countText(blocks)}
                </td>
                <td data-title="From" class="number">
                  {from === undefined ? '–' : countText(from)}
                </td>
                <td data-title="To" class="number">
                  {to === undefined ? '–' : countText(to)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sources.map(source => source.refused.length > 0 && <Refused key={source.name} source={source} />)}
    </section>
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
