// What a key may do: one scope for each operation, and `ops` for status and metrics.

export const scopes = ['nft-transfers', 'wallet-chains', 'portfolio', 'ops'] as const
export type Scope = (typeof scopes)[number]
