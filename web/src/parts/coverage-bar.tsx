// Which blocks of a chain are covered, and with which evidence, as a bar with a text that says the same.
import { countText, percentText } from '../quantities.ts'
import type { Coverage } from '../state/live.ts'
import { evidences } from './evidence.ts'

const width = 1_000

type Props = { coverage: Coverage; from: number; head: number; subject: string }

export function coveredBlocks({ blocks }: Pick<Coverage, 'blocks'>): number {
  return Object.values(blocks).reduce((sum, count) => sum + (count ?? 0), 0)
}

export function CoverageBar({ coverage, from, head, subject }: Props) {
  const span = Math.max(1, head - from + 1)
  const xOf = (block: number) => Math.max(0, Math.min(width, ((block - from) / span) * width))
  return (
    <svg
      class="coverage-bar"
      viewBox={`0 0 ${width} 10`}
      preserveAspectRatio="none"
      role="img"
      aria-label={coverageText({ coverage, from, head, subject })}
    >
      {coverage.intervals.map(({ from: first, to, evidence }) => {
        const x = xOf(first)
        // A stretch of a few blocks is still to be seen.
        return (
          <rect
            key={`${first} ${evidence}`}
            x={x}
            y="0"
            height="10"
            width={Math.max(2, xOf(to + 1) - x)}
            class={`evidence-${evidence}`}
          />
        )
      })}
    </svg>
  )
}

export function coverageText({ coverage, from, head, subject }: Props): string {
  const total = head - from + 1
  if (total <= 0) return `${subject}: no block is known yet.`
  const done = Math.min(total, coveredBlocks(coverage))
  const parts = evidences
    .filter(({ name }) => (coverage.blocks[name] ?? 0) > 0)
    .map(({ name, title }) => `${countText(coverage.blocks[name]!)} by ${title}`)
  const how = parts.length === 0 ? '' : `: ${parts.join(', ')}`
  return `${subject}: ${percentText(done, total)} of the blocks ${countText(from)} to ${countText(head)} are covered${how}.`
}

export function EvidenceLegend() {
  return (
    <ul class="legend" aria-label="Kinds of evidence, the strongest first">
      {evidences.map(({ name, title, meaning }) => (
        <li key={name} title={meaning}>
          <svg viewBox="0 0 10 10" class="swatch" aria-hidden="true">
            <rect width="10" height="10" class={`evidence-${name}`} />
          </svg>
          {title}
        </li>
      ))}
      <li>
        <svg viewBox="0 0 10 10" class="swatch" aria-hidden="true">
          <rect width="10" height="10" class="evidence-none" />
        </svg>
        not yet
      </li>
    </ul>
  )
}

/** The fills that differ in texture as well as in colour; drawn once for the whole page. */
export function EvidencePatterns() {
  return (
    <svg class="offstage" aria-hidden="true" focusable="false">
      <defs>
        <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" class="pattern-two-base" />
          <rect width="2.5" height="6" class="pattern-two-line" />
        </pattern>
        <pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse">
          <rect width="5" height="5" class="pattern-one-base" />
          <circle cx="2.5" cy="2.5" r="1.2" class="pattern-one-dot" />
        </pattern>
      </defs>
    </svg>
  )
}
