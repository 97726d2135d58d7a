// Why a contract carries its flags and names: who said so, what the rules counted, and which labels there are.

import { Badge } from '../parts/badge.tsx'
import { Table } from '../parts/table.tsx'
import { exactText } from '../quantities.ts'
import type { Schemas } from '../state/service.ts'

type Explained = Schemas['Explanation']
type Flag = Explained['verified_collection']

const reasons: Record<Flag['because'], string> = {
  pin: 'the operator said so',
  list: 'an imported list says so',
  pack: 'the built-in pack says so',
  rules: 'the rules of the service',
  verified: 'the collection is verified',
  nobody: 'nothing says otherwise',
}

export function Explanation({ explained }: { explained: Explained }) {
  const { possible_spam: spam, verified_collection: verified, labels } = explained
  return (
    <details class="explanation panel">
      <summary>Why it is marked as it is</summary>
      <dl class="reasons">
        <Reason title="Verified" flag={verified} />
        <Reason title="Possible spam" flag={spam} />
      </dl>
      {spam.score !== null && (
        <p>
          The rules came to <b>{spam.score}</b>; {spam.score_needed} would mark it
          {spam.judged_at !== null && `, as of ${exactText(Date.parse(spam.judged_at))}`}.
        </p>
      )}
      {spam.rules.length > 0 && <Rules rules={spam.rules} />}
      {labels.length > 0 && (
        <ul class="labels">
          {labels.map(({ label, source, chain, shown }) => (
            <li key={`${label} ${source}`} class={shown ? undefined : 'soft'}>
              {label}{' '}
              <small class="soft">
                {source}, {chain ?? 'every chain'}
                {shown ? '' : ', outranked'}
              </small>
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}

function Reason({ title, flag }: { title: string; flag: Flag }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <Badge
          word={flag.value ? 'yes' : 'no'}
          tone={flag.value && title !== 'Verified' ? 'bad' : flag.value ? 'good' : 'quiet'}
        />{' '}
        {reasons[flag.because]}
        {flag.mark !== null && <small class="soft"> ({flag.mark.source})</small>}
      </dd>
    </div>
  )
}

function Rules({ rules }: { rules: Explained['possible_spam']['rules'] }) {
  return (
    <Table isPlain columns={['Rule', { figures: 'Weight' }, 'Because']}>
      {rules.map(({ rule, weight, reason, numbers }) => (
        <tr key={rule}>
          <th scope="row">{rule}</th>
          <td class="number">{weight}</td>
          <td>
            {reason ??
              Object.entries(numbers)
                .map(([name, value]) => `${name} ${value}`)
                .join(', ')}
          </td>
        </tr>
      ))}
    </Table>
  )
}
