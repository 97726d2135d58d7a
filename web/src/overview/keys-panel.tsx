// Which keys the API is used with: now, in the last hour, and today.
import { keyNameOf } from '../keys/key-name.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Panel } from '../parts/panel.tsx'
import { Table } from '../parts/table.tsx'
import { Sparkline } from '../plots/sparkline.tsx'
import { countText, percentText, rateText } from '../quantities.ts'
import { type LiveStatus, past, status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'

type Api = NonNullable<LiveStatus['api']>

/** Undefined while it is not known. */
export function KeysPanel({ api }: { api: Api | undefined }) {
  const link = (
    <a class="button small" href="#/keys">
      All keys
    </a>
  )
  return (
    <Panel id="use" title="Use by key" note="today" actions={link} flush>
      {api?.keys.length === 0 ? (
        <EmptyState
          title="No request today"
          action={
            <a class="button small" href={hrefOf(['keys'], { new: 'client' })}>
              Create a key for a client
            </a>
          }
        >
          Requests of clients are counted here, by key; those of this console are not. A new key comes with the command
          of its first request.
        </EmptyState>
      ) : (
        <Table
          columns={[
            'Key',
            'Last hour',
            { figures: 'Requests/s' },
            { figures: 'Today' },
            { figures: 'Refused, 1 h' },
            { figures: 'Quota' },
          ]}
          coming={2}
        >
          {api?.keys.map(key => (
            <KeyRow
              key={key.id}
              used={key}
              isAlone={api.keys.every(({ id, name }) => id === key.id || name !== key.name)}
            />
          ))}
        </Table>
      )}
    </Panel>
  )
}

function KeyRow({
  used: { id, name, requests_per_second: rate, today, quota_per_day: quota, refused_last_hour, failed_last_hour },
  isAlone,
}: {
  used: Api['keys'][number]
  /** No other has its name. */
  isAlone: boolean
}) {
  const line = past.value.lines.find(each => each.key === id && each.measure === 'requests_per_second')
  return (
    <tr>
      <th scope="row">
        <a href={hrefOf(['keys', id])}>{keyNameOf(name, status.value)}</a>
        {!isAlone && <small class="soft"> {id}</small>}
      </th>
      <td class="sparkline-cell not-narrow">
        <Sparkline values={line?.values.map(value => value ?? 0) ?? []} />
      </td>
      <td class="number aside">{rateText(rate)}</td>
      <td class="number second" data-name="today">
        {countText(today)}
      </td>
      <td
        class={failed_last_hour > 0 ? 'number second bad' : 'number second'}
        data-name="refused in 1 h"
        title={`In the last hour: ${countText(refused_last_hour)} refused with 4xx, ${countText(failed_last_hour)} failed with 5xx`}
      >
        {countText(refused_last_hour + failed_last_hour)}
      </td>
      <td class="number second" data-name="quota">
        {quota === null ? <span class="soft">no limit</span> : percentText(today, quota)}
      </td>
    </tr>
  )
}
