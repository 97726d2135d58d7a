// The first thing on the overview: whether the service is well, and what is wrong where it is not.
import { AlertIcon, CheckIcon } from '../parts/icons.tsx'
import { ReasonText } from '../parts/reason-text.tsx'
import { now } from '../state/clock.ts'
import { connection, status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { type Finding, pageOf, verdictOf } from './verdict.ts'

const shownMax = 6

export function VerdictBanner() {
  const lost = connection.value.state === 'lost' ? { nowMs: now.value } : undefined
  const { tone, text, detail, others, page } = verdictOf(status.value!, lost)
  return (
    <div class={`verdict verdict-${tone}`} role="status">
      <span class="verdict-icon">{tone === 'good' ? <CheckIcon /> : <AlertIcon />}</span>
      <div class="verdict-text">
        <strong>{page === undefined ? text : <a href={hrefOf(page)}>{text}</a>}</strong>
        <ReasonText text={detail} />
        {others.length > 0 && (
          <ul>
            {others.slice(0, shownMax).map(finding => (
              <Other key={finding.text} finding={finding} />
            ))}
            {others.length > shownMax && <li>and {others.length - shownMax} more</li>}
          </ul>
        )}
      </div>
    </div>
  )
}

function Other({ finding }: { finding: Finding }) {
  const { text, detail } = finding
  const page = pageOf(finding)
  return <li title={detail}>{page === undefined ? text : <a href={hrefOf(page)}>{text}</a>}</li>
}
