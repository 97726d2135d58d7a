// The newest blocks of every chain as they arrive. Those that a reorganisation takes back are struck through beside the
// ones that took their place, and leave after a while.
import { useRef } from 'preact/hooks'
import { Age } from '../parts/age.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { countText, pluralText } from '../quantities.ts'
import type { LiveStatus } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { nextBlocks, ribbonText, type ShownBlock } from './ribbon.ts'

/** Undefined while it is not known. */
export function RibbonPanel({ told }: { told: LiveStatus | undefined }) {
  const shown = useRef<{ at: number; blocks: ReadonlyMap<string, ShownBlock[]> }>({ at: 0, blocks: new Map() })
  if (told !== undefined && shown.current.at !== told.at) {
    const { chains, at } = told
    const entries = Object.entries(chains).flatMap(([name, { recent }]) =>
      recent === undefined ? [] : [[name, nextBlocks(shown.current.blocks.get(name) ?? [], recent, at)] as const],
    )
    shown.current = { at, blocks: new Map(entries) }
  }
  const { blocks } = shown.current
  if (told !== undefined && blocks.size === 0) return null
  return (
    <Panel id="ribbon" title="Newest blocks" note="not final yet; struck through: taken back by a reorganisation">
      {told === undefined && <Skeleton rows={3} />}
      <ul class="ribbons">
        {[...blocks].map(([name, row]) => (
          <li key={name}>
            <a href={hrefOf(['chain', name])}>{name}</a>
            {/* biome-ignore lint/a11y/useSemanticElements: no fieldset: nothing is filled in */}
            <div class="ribbon" role="group" aria-label={ribbonText(name, row)}>
              {row.toReversed().map(block => (
                <BlockCard
                  key={block.hash}
                  chain={name}
                  block={block}
                  isWhole={told?.chains[name]?.index !== 'on-demand'}
                />
              ))}
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Of a block that is not indexed as a whole, how many transfers it has is not known. */
function BlockCard({ chain, block, isWhole }: { chain: string; block: ShownBlock; isWhole: boolean }) {
  const { number, hash, timestamp, transfers, takenBackAt } = block
  const name = countText(number)
  return (
    <a
      class={takenBackAt === undefined ? 'block' : 'block taken-back'}
      href={hrefOf(['block', chain, String(number)])}
      title={`block ${name} ${hash}…`}
    >
      {takenBackAt === undefined ? <b>{name}</b> : <s>{name}</s>}
      {isWhole && <span>{transfers === undefined ? '–' : pluralText(transfers, 'transfer')}</span>}
      {timestamp !== undefined && <Age moment={timestamp * 1_000} />}
    </a>
  )
}
