// The schemas of answers, for the OpenAPI document and tests. Answers are not checked when served: too slow.
import { z } from 'zod'

const hexAddress = z.string().regex(/^0x[0-9a-f]{40}$/)
const hash = z.string().regex(/^0x[0-9a-f]{64}$/)
const decimal = z.string().regex(/^\d+$/)
const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])])
  .describe('A boolean in the live dialect, a string in the reference dialect.')
const count = z
  .union([z.int().min(0), decimal])
  .describe('A number in the live dialect, a string in the reference dialect.')

const transferFields = {
  block_number: decimal,
  block_timestamp: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.000Z)?$/)
    .describe('UTC; with `.000Z` in the live dialect.'),
  block_hash: hash,
  transaction_hash: hash,
  transaction_index: z.int().min(0),
  log_index: z.int().min(0),
  value: decimal.describe('Native currency moved by the whole transaction, in its smallest unit.'),
  contract_type: z.enum(['ERC721', 'ERC1155']),
  transaction_type: z.enum(['Single', 'Batch']),
  token_address: hexAddress,
  token_id: z.string().regex(/^(\d+|0x[0-9a-f]+)$/),
  from_address: hexAddress.describe('The zero address for a mint.'),
  from_address_label: z.string().nullable(),
  to_address: hexAddress.describe('The zero address for a burn.'),
  to_address_label: z.string().nullable(),
  amount: decimal,
  operator: hexAddress.nullable().describe('Known for ERC-1155 only.'),
  possible_spam: flag,
  verified_collection: flag,
}

const pageFields = {
  page: count.describe('Starts at 0 and grows by one with each cursor.'),
  page_size: count.describe('The limit in effect, not the number of rows.'),
  cursor: z.string().nullable().describe('Cursor of the next page. Empty (reference) or null (live) on the last page.'),
}

const truthFields = {
  block_exists: z.boolean().describe('Whether every requested block is at or below the head of the chain.'),
  index_complete: z.boolean().describe('Whether every block of the requested range is indexed for this contract.'),
}

export const transfer = z.object(transferFields)
export const namedTransfer = z.object({
  ...transferFields,
  token_name: z.string().nullable(),
  token_symbol: z.string().nullable(),
})

export const transferCollection = z.object({
  total: count.nullable().describe('Number of matching transfers; null unless `disable_total=false`.'),
  ...pageFields,
  result: z.array(transfer),
  ...truthFields,
})
export const namedTransferCollection = z.object({ ...pageFields, result: z.array(namedTransfer), ...truthFields })

export const walletTransaction = z.object({
  block_timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
  block_number: decimal,
  transaction_hash: hash,
})

export const walletChains = z.object({
  address: hexAddress,
  active_chains: z.array(
    z.object({
      chain: z.string(),
      chain_id: z.string().regex(/^0x[0-9a-f]+$/),
      first_transaction: walletTransaction.nullable(),
      last_transaction: walletTransaction.nullable(),
    }),
  ),
})

const plainValue = z.union([z.string(), z.number(), z.boolean()]).nullable()
const normalizedMetadata = z.object({
  name: plainValue,
  description: plainValue,
  image: plainValue,
  external_link: plainValue,
  external_url: plainValue,
  animation_url: plainValue,
  attributes: z.array(
    z.object({
      trait_type: plainValue,
      value: plainValue,
      display_type: plainValue,
      max_value: plainValue,
      trait_count: z.int(),
      order: plainValue,
    }),
  ),
})

const nftFields = {
  token_address: hexAddress,
  token_id: z.string().regex(/^(\d+|0x[0-9a-f]+)$/),
  amount: decimal,
  block_number_minted: decimal.nullable().describe('Block of the first stored transfer of the token.'),
  token_hash: z.string().regex(/^[0-9a-f]{32}$/),
  contract_type: z.enum(['ERC721', 'ERC1155']).nullable().describe('Null for CryptoPunks, which declare none.'),
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  token_uri: z.string().nullable(),
  metadata: z.string().nullable().describe('JSON as text, where the URI itself holds it.'),
  normalized_metadata: normalizedMetadata
    .optional()
    .describe('Only with `normalizeMetadata=true`, where the metadata is known.'),
  last_token_uri_sync: z.string().nullable(),
  last_metadata_sync: z.string().nullable(),
  minter_address: z.string().nullable(),
  possible_spam: flag,
  verified_collection: flag,
}
const heldFields = { owner_of: hexAddress, block_number: decimal.describe('Block of the last change.') }
const transferIndex = z.array(z.int().min(0)).length(4)

export const nftOwner = z.object({ ...nftFields, ...heldFields })
export const contractNft = z.object(nftFields)
export const nft = z.object({ ...nftFields, ...heldFields, transfer_index: transferIndex })
export const nftList = z.array(nft.nullable())
export const tokenList = z.object({
  tokens: z
    .array(z.object({ token_address: z.string(), token_id: z.string() }))
    .min(1)
    .max(25),
  normalizeMetadata: z.boolean().optional(),
  media_items: z.boolean().optional(),
})

const holdingPage = {
  total: count.nullable().optional().describe('Only under `/api/v2`; null unless `disable_total=false`.'),
  page: count,
  page_size: count.describe('The limit in effect, not the number of rows.'),
  cursor: pageFields.cursor,
}
const syncStatus = z.enum(['SYNCED', 'SYNCING']).describe('Whether all that is asked for is indexed.')

export const nftOwners = z.object({ ...holdingPage, result: z.array(nftOwner) })
export const walletNfts = z.object({ status: syncStatus, ...holdingPage, result: z.array(nftOwner) })
export const contractNfts = z.object({ ...holdingPage, result: z.array(contractNft), status: syncStatus })
export const uniqueOwners = z.object({
  page: count,
  pageSize: count,
  cursor: pageFields.cursor,
  walletAddresses: z.array(hexAddress),
})
export const walletCollections = z.object({
  status: syncStatus,
  ...holdingPage,
  result: z.array(
    z.object({
      token_address: hexAddress,
      contract_type: z.enum(['ERC721', 'ERC1155']),
      name: z.string().nullable(),
      symbol: z.string().nullable(),
      possible_spam: flag,
      verified_collection: flag,
      count: count.optional().describe('Only with `token_counts=true`.'),
      collection_logo: z.null(),
      collection_banner_image: z.null(),
    }),
  ),
})

const counted = z.object({ total: decimal })
const uncounted = z.object({ total: z.null() }).describe('Not indexed.')
const toldByNode = z.object({ total: decimal.nullable() }).describe('A node says it; null where none does.')
const currentOwners = z.object({ current: decimal })

export const collectionStats = z.object({ total_tokens: decimal, owners: currentOwners, transfers: counted })
export const tokenStats = z.object({ owners: currentOwners, transfers: counted })
export const walletStats = z.object({
  nfts: decimal,
  collections: decimal,
  transactions: toldByNode,
  nft_transfers: counted,
  token_transfers: uncounted,
})
export const blockStats = z.object({
  transactions: toldByNode,
  nft_transfers: counted,
  token_transfers: uncounted,
})

export const dateToBlock = z.object({
  date: z.string().describe('The date that was asked for, in UTC.'),
  block: z.int().min(0),
  timestamp: z.int().describe('The date in unix seconds.'),
  block_timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
  hash,
  parent_hash: hash.nullable().describe('Null where neither the store nor a node told it.'),
})

export const apiVersion = z.object({ version: z.string() })

export const endpointWeights = z.array(
  z.object({ endpoint: z.string(), path: z.string(), rateLimitCost: decimal, price: decimal }),
)

export const nativeBalance = z.object({ balance: decimal.describe('In the smallest unit.') })

export const nativeBalances = z.array(
  z.object({
    chain: z.string(),
    chain_id: z.string().regex(/^0x[0-9a-f]+$/),
    total_balance: decimal.describe('In the smallest unit.'),
    block_number: decimal,
    block_timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
    total_balance_formatted: z.string().describe('In the main unit, exact.'),
    wallet_balances: z.array(z.object({ address: hexAddress, balance: decimal, balance_formatted: z.string() })),
  }),
)
const offChain = z.null().describe('Not on the chain.')

export const contractMetadata = z.object({
  token_address: hexAddress,
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  contract_type: z.enum(['ERC721', 'ERC1155']),
  synced_at: z.iso.datetime().nullable().describe('When the contract was asked for its names; null until then.'),
  possible_spam: flag,
  verified_collection: flag,
  collection_logo: offChain,
  collection_banner_image: offChain,
  collection_category: offChain,
  project_url: offChain,
  wiki_url: offChain,
  discord_url: offChain,
  telegram_url: offChain,
  twitter_username: offChain,
  instagram_username: offChain,
})
export const contractMetadataList = z.array(contractMetadata.nullable())
export const contractAddresses = z.object({
  addresses: z
    .array(z.string().regex(/^0[xX][0-9a-fA-F]{40}$/))
    .min(1)
    .max(25),
})

const pubkey = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)

export const holding = z.object({
  associatedTokenAddress: pubkey,
  mint: pubkey,
  name: z.string(),
  symbol: z.string(),
  amount: z.string().describe('In the main unit, exact.'),
  amountRaw: decimal,
  decimals: z.int().min(0).max(255),
})

export const portfolio = z.object({
  nativeBalance: z.object({ lamports: decimal, solana: z.string().describe('In the main unit, exact.') }),
  nfts: z.array(holding),
  tokens: z.array(holding),
})

export const solanaBalance = portfolio.shape.nativeBalance
export const solanaHoldings = z.array(holding)

const mintFields = {
  mint: pubkey,
  standard: z.enum(['metaplex', '']).describe('Empty for a mint without Metaplex metadata.'),
  name: z.string(),
  symbol: z.string(),
  tokenStandard: z.int().nullable().describe('Of Metaplex; null where the metadata does not say it.'),
  totalSupply: decimal.describe('In the smallest unit.'),
  metaplex: z
    .object({
      metadataUri: z.string(),
      updateAuthority: pubkey,
      sellerFeeBasisPoints: z.int().min(0),
      primarySaleHappened: z.int().min(0).max(1),
      isMutable: z.boolean(),
      masterEdition: z.boolean(),
    })
    .describe(
      'Of a mint without Metaplex metadata: empty, zero and false, with the mint authority, or the system program where there is none, as update authority.',
    ),
}
export const solanaNftMetadata = z.object(mintFields)
export const solanaTokenMetadata = z.object({
  ...mintFields,
  decimals: decimal,
  totalSupplyFormatted: z.string().describe('In the main unit, exact.'),
})

const errorFields = {
  message: z.string(),
  code: z.string(),
  details: z.unknown().optional(),
  request_id: z.string(),
}

export const failure = z.object(errorFields)
export const solanaFailure = z.object({ ...errorFields, statusCode: z.int(), error: z.string() })
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  details: z.unknown().optional(),
  request_id: z.string(),
})
