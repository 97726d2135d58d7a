// What a webhook listens to: how it is stored, and as its owner is shown it. No rules of filters.
import type { ChainTable } from '../../../chains.ts'
import { type Ledger, ledgerId, ledgerOf } from '../../../ledgers.ts'
import type { Address, ChainId } from '../../../model.ts'
import type { ChangeFilter } from '../../../query/changes/position.ts'
import { kindOf } from '../changes/change-json.ts'

type StoredFilter = {
  chain: ChainId
  ledgers: readonly Ledger[]
  contract?: Address | undefined
  wallet?: Address | undefined
  tokenId?: string | undefined
  finalOnly: boolean
}

export function filterText({ ledgers, contract, wallet, tokenId, finalOnly }: ChangeFilter): string {
  const { chain } = ledgerOf(ledgers[0]!)
  const named = ledgers.map(ledger => ledgerOf(ledger).ledger)
  const stored = { chain, ledgers: named, contract, wallet, tokenId: tokenId?.toString(), finalOnly }
  return JSON.stringify(stored satisfies StoredFilter)
}

export function filterOf(text: string): ChangeFilter {
  const { chain, ledgers, contract, wallet, tokenId, finalOnly } = JSON.parse(text) as StoredFilter
  return {
    ledgers: ledgers.map(ledger => ledgerId(chain, ledger)),
    ...{ contract, wallet, finalOnly, tokenId: tokenId === undefined ? undefined : BigInt(tokenId) },
  }
}

export function chainNameOf({ ledgers }: ChangeFilter, chains: ChainTable): string {
  const { chain } = ledgerOf(ledgers[0]!)
  return chains.byId(chain)?.name ?? `${chain}`
}

export function shownFilter(filter: ChangeFilter, chains: ChainTable) {
  const { ledgers, contract, wallet, tokenId, finalOnly } = filter
  return {
    chain: chainNameOf(filter, chains),
    contract: contract ?? null,
    wallet: wallet ?? null,
    token_id: tokenId?.toString() ?? null,
    kinds: ledgers.map(ledger => kindOf[ledgerOf(ledger).ledger]),
    finality: finalOnly ? ('final' as const) : ('seen' as const),
  }
}
