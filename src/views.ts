// The views that a chain keeps, by name, and what each is derived from: the one place to name another. It derives
// nothing itself.

const derivedFrom = {
  transfers: 'logs',
  activity: 'transactions',
  by_wallet: 'transfers',
  by_token: 'transfers',
  by_block: 'transfers',
  /** Every ERC-20 token, in a ledger of its own. */
  erc20: 'token logs',
} as const

export type KeptView = keyof typeof derivedFrom
export const viewNames = Object.keys(derivedFrom) as KeptView[]

/** Those of a chain whose settings name none: tokens have many times the transfers of NFTs. */
export const usualViews = viewNames.filter(view => view !== 'erc20')

/** Of the ledger of tokens: owners are folded from the index by token, and no list of tokens is by block. */
export const tokenViews: readonly KeptView[] = ['transfers', 'by_wallet', 'by_token']

/** How the ledger of tokens of a chain with these views is indexed. */
export function tokenSettings(views: readonly KeptView[] | undefined) {
  return { index: keepsTokens(views) ? 'full' : 'on-demand', views: tokenViews } as const
}

/** Whether a chain keeps every token, and not those alone that are asked for. */
export function keepsTokens(views: readonly KeptView[] | undefined): boolean {
  return views?.includes('erc20') === true
}

/** In the order of the table. Transfers are always kept. */
export function keptViews(named: readonly KeptView[]): KeptView[] {
  return viewNames.filter(view => view === 'transfers' || named.includes(view))
}

/** Those that follow from stored transfers. */
export type IndexName = { [Name in KeptView]: (typeof derivedFrom)[Name] extends 'transfers' ? Name : never }[KeptView]

export function isIndexed(view: KeptView): view is IndexName {
  return derivedFrom[view] === 'transfers'
}

/** What whole blocks are complete for: every contract and wallet (`full`), or every contract alone (`transfers`). */
export type WholeScope = 'full' | 'transfers'

/** How a chain that keeps these views claims its blocks. A view of stored transfers needs no claim of its own. */
export function wholeScopeOf(views: readonly string[] = viewNames): WholeScope {
  return viewNames.some(view => derivedFrom[view] === 'transactions' && views.includes(view)) ? 'full' : 'transfers'
}
