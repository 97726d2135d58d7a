// The tree of branches that reorganisations make. A branch owns the blocks above its fork; below it, its parent does.

export type Branch = {
  id: number
  parent: Branch | undefined
  /** The last block that is shared with the parent; -1 for the trunk. */
  fork: number
}

export const trunk: Branch = { id: 0, parent: undefined, fork: -1 }

/** The branch whose rules made block `number` on the lineage that ends in `branch`. */
export function ownerOf(branch: Branch, number: number): Branch {
  let owner = branch
  while (owner.parent !== undefined && number <= owner.fork) owner = owner.parent
  return owner
}
