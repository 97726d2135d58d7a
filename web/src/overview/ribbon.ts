// The newest blocks of a chain as they arrive, with those that a reorganisation took back. Pure.

type Told = { number: number; hash: string; timestamp?: number; transfers?: number | undefined }

export type ShownBlock = Told & {
  /** When it was seen to be replaced, in unix milliseconds; undefined while it stands. */
  takenBackAt?: number
}

const blocksMax = 24
/** For as long a block that was taken back stays in sight. */
export const takenBackMs = 20_000

/** What is shown next: what is told now, and what was shown before and is gone. */
export function nextBlocks(before: readonly ShownBlock[], told: readonly Told[], nowMs: number): ShownBlock[] {
  const standing = new Set(told.map(({ hash }) => hash))
  const lowest = told[0]?.number ?? 0
  const gone = before.flatMap(block => {
    // Below what is told blocks are final, or too many to be told of.
    if (standing.has(block.hash) || block.number < lowest) return []
    const takenBackAt = block.takenBackAt ?? nowMs
    return nowMs - takenBackAt < takenBackMs ? [{ ...block, takenBackAt }] : []
  })
  const isGone = (block: ShownBlock) => block.takenBackAt !== undefined
  // A block that was taken back stands before the one that took its place.
  return [...gone, ...told]
    .sort((a, b) => a.number - b.number || Number(isGone(b)) - Number(isGone(a)))
    .slice(-blocksMax)
}

export function ribbonText(chain: string, blocks: readonly ShownBlock[]): string {
  const gone = blocks.filter(({ takenBackAt }) => takenBackAt !== undefined).length
  const newest = blocks.findLast(({ takenBackAt }) => takenBackAt === undefined)
  const head = newest === undefined ? 'no block' : `newest block ${newest.number}`
  const taken =
    gone === 0 ? '' : `; ${gone === 1 ? '1 block was' : `${gone} blocks were`} taken back by a reorganisation`
  return `${chain}: ${head}${taken}.`
}
