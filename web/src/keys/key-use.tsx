// How the requests with a key ended: of the last hour by outcome, of today by what they were for, and the last refusals.
import { EmptyState } from '../parts/empty-state.tsx'
import { Fact } from '../parts/fact.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Table } from '../parts/table.tsx'
import { countText, exactText } from '../quantities.ts'
import { now } from '../state/clock.ts'
import { type Schemas, service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import { scopeTexts } from './new-key-form.tsx'

const askedEveryMs = 10_000

const outcomes = {
  answered: ['Answered', undefined],
  limited: ['Limited (429)', 'warn'],
  forbidden: ['Forbidden (403)', 'warn'],
  refused: ['Other 4xx', undefined],
  failed: ['Failed (5xx)', 'bad'],
} as const

export function KeyUse({ id }: { id: string }) {
  const turn = Math.floor(now.value / askedEveryMs)
  const state = useAnswer(`${id} ${turn}`, signal =>
    service.GET('/keys/{id}/use', { params: { path: { id } }, signal }),
  )
  const { answered, problem, again } = state.value
  const use = answered?.data
  if (problem !== undefined)
    return (
      <Panel id="outcomes" title="Answers">
        <FailureNote problem={problem} what="The use of the key could not be loaded." onRetry={again} />
      </Panel>
    )
  return (
    <>
      <div class="columns even">
        <Panel id="outcomes" title="Answers" note="last hour, this process">
          {use === undefined ? <Skeleton facts={Object.values(outcomes).map(([title]) => title)} /> : <Hour of={use} />}
        </Panel>
        <Panel id="today" title="Today by scope" note="UTC, all processes">
          {use === undefined ? <Skeleton rows={3} /> : <Today of={use} />}
        </Panel>
      </div>
      <Panel id="refusals" title="Last refusals" note="the last 20 of this process" count={use?.refusals.length} flush>
        {use?.refusals.length === 0 ? (
          <EmptyState title="Nothing was refused">
            Requests that are limited, forbidden, wrong or failed are listed here until the service is restarted.
          </EmptyState>
        ) : (
          <Table columns={['Time (UTC)', 'Status', 'Code', 'Operation']} coming={2}>
            {use?.refusals.map(({ at, status, code, route }, index) => (
              <tr key={`${at} ${index}`}>
                <td class="mono">{exactText(Date.parse(at)).slice(0, 19)}</td>
                <td class={status >= 500 ? 'aside bad' : 'aside'}>{status}</td>
                <td class="second">
                  <code>{code}</code>
                </td>
                <td class="second own-line route-cell">
                  <code>{route}</code>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
    </>
  )
}

function Hour({ of: { last_hour } }: { of: Schemas['KeyUse'] }) {
  return (
    <dl class="facts wide">
      {Object.entries(outcomes).map(([name, [title, tone]]) => {
        const count = last_hour[name as keyof typeof last_hour]
        return (
          <Fact key={name} title={title}>
            <span class={count > 0 ? tone : undefined}>{countText(count)}</span>
          </Fact>
        )
      })}
    </dl>
  )
}

const otherUses: Readonly<Record<string, string>> = { any: 'what every key may ask', console: 'this console' }

function Today({ of: { today } }: { of: Schemas['KeyUse'] }) {
  if (today.length === 0) return <p class="soft">No request today.</p>
  return (
    <dl class="facts wide">
      {today.map(({ use, requests }) => (
        <Fact key={use} title={otherUses[use] ?? scopeTexts[use as keyof typeof scopeTexts] ?? use}>
          {countText(requests)}
        </Fact>
      ))}
    </dl>
  )
}
