// What the map shows, in words: a table of its stretches.

import { TableHead } from '../parts/table.tsx'
import { countText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import { type BlockRange, blocksOf, type Piece } from './block-range.ts'
import { evidences } from './evidence.ts'

const shownMax = 200

export function pieceText(piece: Piece | undefined): string {
  if (piece?.evidence === undefined) return 'not indexed yet'
  return evidences.find(({ name }) => name === piece.evidence)?.title ?? piece.evidence
}

type Props = { pieces: readonly Piece[]; chain: string; view: BlockRange }

export function ProofText({ pieces, chain, view }: Props) {
  return (
    <details class="proof-text">
      <summary>
        {pieces.length === 1 ? '1 range' : `${countText(pieces.length)} ranges`} from block {countText(view.from)} to{' '}
        {countText(view.to)} as a table
      </summary>
      <table>
        <TableHead columns={[{ figures: 'From' }, { figures: 'To' }, { figures: 'Blocks' }, 'Evidence']} />
        <tbody>
          {pieces.slice(0, shownMax).map(piece => (
            <tr key={piece.from}>
              {[piece.from, piece.to].map((block, at) => (
                <td key={at} class="number">
                  <a href={hrefOf(['block', chain, `${block}`])}>{countText(block)}</a>
                </td>
              ))}
              <td class="number">{countText(blocksOf(piece))}</td>
              <td class={piece.evidence === undefined ? 'bad' : undefined}>{pieceText(piece)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {pieces.length > shownMax && (
        <p class="soft">The first {countText(shownMax)} are listed: zoom in for the others.</p>
      )}
    </details>
  )
}
