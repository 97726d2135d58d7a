// The indexes of transfers that a chain can keep: the one list of them. Pure.
import { byBlock } from './by-block.ts'
import { byToken } from './by-token.ts'
import { byWallet } from './by-wallet.ts'
import type { IndexName, IndexView } from './index-view.ts'

export const indexViews: readonly IndexView[] = [byWallet, byToken, byBlock]

export function indexOf(name: IndexName): IndexView {
  return indexViews.find(index => index.name === name)!
}
