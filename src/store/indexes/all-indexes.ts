// The indexes of transfers that a chain can keep: the one list of them. Pure.

import type { IndexName, IndexView } from '../runs/view.ts'
import { byBlock } from './by-block.ts'
import { byToken } from './by-token.ts'
import { byWallet } from './by-wallet.ts'

export const indexViews: readonly IndexView[] = [byWallet, byToken, byBlock]

export function indexOf(name: IndexName): IndexView {
  return indexViews.find(index => index.name === name)!
}
