// The indexes of transfers that a chain can keep: the one list of them. Pure.

import type { IndexName, IndexView } from '../runs/view.ts'
import { byBlock } from './by-block.ts'
import { byToken } from './by-token.ts'
import { byWallet } from './by-wallet.ts'

const byName: Readonly<Record<IndexName, IndexView>> = { by_wallet: byWallet, by_token: byToken, by_block: byBlock }

export const indexViews: readonly IndexView[] = Object.values(byName)

export function indexOf(name: IndexName): IndexView {
  return byName[name]
}
