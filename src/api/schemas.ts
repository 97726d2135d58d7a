// The schemas of answers, for the OpenAPI document and tests. Answers are not checked when served: too slow.
import { z } from 'zod'
import {
  blockTimestamp,
  chainId,
  chainName,
  contract,
  count,
  decimal,
  hash,
  hexAddress,
  live,
  pageFields,
  standard,
  tokenId,
  truthFields,
  utcTime,
} from './document/schema-parts.ts'

const transferFields = {
  block_number: decimal.describe('Number of the block.'),
  block_timestamp: blockTimestamp,
  block_hash: hash.describe('Hash of the block.'),
  transaction_hash: hash.describe('Hash of the transaction.'),
  transaction_index: z.int().min(0).describe('Place of the transaction in its block, from 0.'),
  log_index: z.int().min(0).describe('Place of the event in its block, from 0.'),
  value: decimal.describe('Native currency moved by the whole transaction, in its smallest unit.'),
  contract_type: standard,
  transaction_type: z.enum(['Single', 'Batch']).describe('`Batch` for the rows of one ERC-1155 batch transfer.'),
  token_address: contract.token_address,
  token_id: tokenId,
  from_address: hexAddress.describe('Who gave the token. The zero address for a mint.'),
  from_address_label: z.string().nullable().describe('Label of the giver; null if there is none.'),
  to_address: hexAddress.describe('Who got the token. The zero address for a burn.'),
  to_address_label: z.string().nullable().describe('Label of the recipient; null if there is none.'),
  amount: decimal.describe('How many of the token moved: `"1"` for ERC-721.'),
  operator: hexAddress.nullable().describe('Who made the transfer. Known for ERC-1155 only.'),
  possible_spam: contract.possible_spam,
  verified_collection: contract.verified_collection,
}

export const transfer = z.object(transferFields)
export const namedTransfer = z.object({
  ...transferFields,
  token_name: contract.name,
  token_symbol: contract.symbol,
})

export const transferCollection = z.object({
  total: count.nullable().describe('Number of matching transfers; null unless `disable_total=false`.'),
  ...pageFields,
  result: z.array(transfer).describe('The transfers of this page.'),
  ...truthFields,
})
export const namedTransferCollection = z.object({
  ...pageFields,
  result: z.array(namedTransfer).describe('The transfers of this page.'),
  ...truthFields,
})

const changedTransfer = z
  .record(z.string(), z.unknown())
  .describe(
    'The row as the list of its kind has it in `/api/v2.2`: of an NFT transfer as in `NamedTransferCollection`, of an ERC-20 transfer as in `Erc20Transfers`.',
  )
export const changes = z.object({
  changes: z
    .array(
      z.object({
        id: z
          .string()
          .describe(
            'Where it happened. The same for `seen`, `retracted` and `final`, and another one in another block.',
          ),
        state: z
          .enum(['seen', 'retracted', 'final'])
          .describe(
            '`seen` in a block that may still be replaced; `retracted` with its block; `final`, which is also told of what was never told as `seen`.',
          ),
        kind: z.enum(['nft_transfer', 'erc20_transfer']).describe('What happened.'),
        chain: z.string().describe('Name of the chain.'),
        block_number: z.int().min(0).describe('Number of its block.'),
        block_hash: hash.describe('Hash of its block.'),
        data: changedTransfer,
      }),
    )
    .describe('Oldest first; what is retracted newest first.'),
  next: z.string().describe('Position behind the changes, always there: send it as `after`. It may be kept.'),
  more: z.boolean().describe('Whether there may be more at once, without waiting.'),
})

export const walletTransaction = z.object({
  block_timestamp: utcTime.describe('Time of its block, in UTC.'),
  block_number: decimal.describe('Number of its block.'),
  transaction_hash: hash.describe('Hash of the transaction.'),
})

export const walletChains = z.object({
  address: hexAddress.describe('The wallet, lower case.'),
  active_chains: z
    .array(
      z.object({
        chain: chainName,
        chain_id: chainId,
        first_transaction: walletTransaction
          .nullable()
          .describe('The earliest known transaction of the wallet; null if it has none.'),
        last_transaction: walletTransaction
          .nullable()
          .describe('The latest known transaction of the wallet; null if it has none.'),
      }),
    )
    .describe('The chains on which the wallet is active, or those that were asked for.'),
})

const plainValue = z.union([z.string(), z.number(), z.boolean()]).nullable()
const normalizedMetadata = z.object({
  name: plainValue.describe('Name of the token.'),
  description: plainValue.describe('What the token says of itself.'),
  image: plainValue.describe('Address of its picture.'),
  external_link: plainValue.describe('Address of a page about it.'),
  external_url: plainValue.describe('Address of a page about it, under its other usual name.'),
  animation_url: plainValue.describe('Address of its video, audio or 3D model.'),
  attributes: z
    .array(
      z.object({
        trait_type: plainValue.describe('Which trait.'),
        value: plainValue.describe('The value of the trait.'),
        display_type: plainValue.describe('How it is meant to be shown.'),
        max_value: plainValue.describe('The largest value that it can have.'),
        trait_count: z.int().describe('Always 0: traits are not counted.'),
        order: plainValue.describe('Its place among the traits.'),
      }),
    )
    .describe('The traits of the token.'),
})

const evidence = z
  .enum(['hash', 'gateway'])
  .describe('`hash`: it has the hash that its address names. `gateway`: the host that was asked said so.')

const mediaItem = z.object({
  url: z.string().describe('A link that works for at least 12 hours; the picture is fetched when it is first opened.'),
  width: z.int().describe('In pixels; 0 where it is not known.'),
  height: z.int().describe('In pixels; 0 where it is not known.'),
})

const media = z.object({
  mimetype: z
    .string()
    .optional()
    .describe('Type of the picture, where it is known: by its bytes where it was fetched.'),
  category: z.enum(['image', 'video', 'audio']).optional().describe('What it is.'),
  status: z
    .enum([
      ...(['success', 'processing', 'unsupported_media', 'invalid_url'] as const),
      ...(['host_unavailable', 'temporarily_unavailable'] as const),
    ])
    .describe(
      '`success`: the token URI holds it, or it was fetched. `processing`: the contract or a host is being asked. `host_unavailable`: it lies elsewhere, and no host that the operator permits has it. `temporarily_unavailable`: a host did not answer, or the list is too large; ask for the token alone, or later.',
    ),
  original_media_url: z
    .string()
    .optional()
    .describe('A link that needs no key and works for at least 12 hours; of what lies elsewhere what the token says.'),
  updatedAt: z.string().optional().describe('When the contract or the host was asked.'),
  bytes: z.int().optional().describe('Size of what was fetched.'),
  evidence: evidence.optional(),
  media_collection: z
    .object({
      low: mediaItem.describe('For small boxes.'),
      medium: mediaItem.describe('For usual boxes.'),
      high: mediaItem.describe('For large boxes.'),
    })
    .optional()
    .describe('Of what lies elsewhere: links of this service, which need no key. All three are the picture as it is.'),
})

const nftFields = {
  token_address: contract.token_address,
  token_id: tokenId,
  amount: decimal.describe('How many of the token: `"1"` for ERC-721.'),
  block_number_minted: decimal.nullable().describe('Block of the first stored transfer of the token.'),
  token_hash: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe('MD5 of the address of the contract and the decimal id, as one text.'),
  contract_type: z.enum(['ERC721', 'ERC1155']).nullable().describe('Null for CryptoPunks, which declare none.'),
  name: contract.name,
  symbol: contract.symbol,
  token_uri: z.string().nullable().describe('Where the contract says that the metadata is; null if it was not read.'),
  metadata: z
    .string()
    .nullable()
    .describe('JSON as text: what the URI holds, or what was fetched where the operator permits it.'),
  metadata_evidence: evidence.optional(),
  normalized_metadata: normalizedMetadata
    .optional()
    .describe('Only with `normalizeMetadata=true`, where the metadata is known.'),
  last_token_uri_sync: z.string().nullable().describe('When the contract was asked for the URI; null until then.'),
  last_metadata_sync: z.string().nullable().describe('When `metadata` was read; null while it is not known.'),
  minter_address: z
    .string()
    .nullable()
    .describe('Who sent the mint; null if it is not known, and a sentence for ERC-1155.'),
  possible_spam: contract.possible_spam,
  verified_collection: contract.verified_collection,
  media: media
    .nullable()
    .optional()
    .describe('Only with `media_items=true`: the picture of the token; null where it names none.'),
}
const heldFields = {
  owner_of: hexAddress.describe('Who owns it.'),
  block_number: decimal.describe('Block of the last change.'),
}
const transferIndex = z
  .array(z.int().min(0))
  .length(4)
  .describe('Place of the last transfer: block, transaction, log, and position in a batch.')

export const nftOwner = z.object({ ...nftFields, ...heldFields })
export const contractNft = z.object(nftFields)
export const nft = z.object({ ...nftFields, ...heldFields, transfer_index: transferIndex })
export const nftList = z.array(nft.nullable())
export const tokenList = z.object({
  tokens: z
    .array(
      z.object({
        token_address: z.string().describe('The contract.'),
        token_id: z.string().describe('Id of the token, decimal or as `0x` and hex digits, without leading zeros.'),
      }),
    )
    .min(1)
    .max(25)
    .describe('From 1 to 25 NFTs; the answer has them in this order.'),
  normalizeMetadata: z.boolean().optional().describe('Adds `normalized_metadata` to each NFT. Defaults to false.'),
  media_items: z.boolean().optional().describe('Adds `media` to each NFT. Defaults to false.'),
})

const offChain = z.null().describe('Always null: it is not on the chain.')

const holdingPage = {
  total: count
    .nullable()
    .optional()
    .describe('Only under `/api/v2`; null unless `disable_total=false`.')
    .meta(live(null)),
  page: count.describe('Number of the page: NFTs of a contract count from 0, the other lists from 1.'),
  page_size: pageFields.page_size,
  cursor: pageFields.cursor,
}
const syncStatus = z.enum(['SYNCED', 'SYNCING']).describe('Whether all that is asked for is indexed.')

export const nftOwners = z.object({
  ...holdingPage,
  result: z.array(nftOwner).describe('One row for each token and owner.'),
})
export const walletNfts = z.object({
  status: syncStatus,
  ...holdingPage,
  result: z.array(nftOwner).describe('One row for each token and owner.'),
})
export const contractNfts = z.object({
  ...holdingPage,
  result: z.array(contractNft).describe('One row for each token.'),
  status: syncStatus,
})
export const uniqueOwners = z.object({
  page: count.describe('Number of the page, from 1.'),
  pageSize: pageFields.page_size,
  cursor: pageFields.cursor,
  walletAddresses: z.array(hexAddress).describe('The owners, ascending.'),
})
export const walletCollections = z.object({
  status: syncStatus,
  ...holdingPage,
  result: z
    .array(
      z.object({
        ...contract,
        contract_type: standard,
        count: count.optional().describe('How many NFTs of it the wallet holds. Only with `token_counts=true`.'),
        collection_logo: offChain,
        collection_banner_image: offChain,
      }),
    )
    .describe('One row for each collection.'),
})

const counted = z.object({ total: decimal.describe('How many.') }).describe('The NFT transfers.')
const countedTokens = z
  .object({ total: decimal.nullable().describe('How many; null unless the chain keeps every token.') })
  .describe('The ERC-20 transfers.')
const uncountedTokens = z
  .object({ total: z.null().describe('Always null.') })
  .describe('ERC-20 transfers, which are not kept by block.')
const toldByNode = z
  .object({ total: decimal.nullable().describe('How many; null where no node says it.') })
  .describe('The transactions, as a node counts them.')
const currentOwners = z.object({ current: decimal.describe('How many wallets own one.') }).describe('The owners.')

export const collectionStats = z.object({
  total_tokens: decimal.describe('How many tokens somebody owns.'),
  owners: currentOwners,
  transfers: counted,
})
export const tokenStats = z.object({ owners: currentOwners, transfers: counted })
export const walletStats = z.object({
  nfts: decimal.describe('How many NFTs the wallet holds.'),
  collections: decimal.describe('Of how many collections.'),
  transactions: toldByNode,
  nft_transfers: counted,
  token_transfers: countedTokens,
})
export const blockStats = z.object({
  transactions: toldByNode,
  nft_transfers: counted,
  token_transfers: uncountedTokens,
})

export const dateToBlock = z.object({
  date: z.string().describe('The date that was asked for, in UTC.'),
  block: z.int().min(0).describe('Number of the last block at or before the date.'),
  timestamp: z.int().describe('The date in unix seconds.'),
  block_timestamp: utcTime.describe('Time of the block, in UTC.'),
  hash: hash.describe('Hash of the block.'),
  parent_hash: hash
    .nullable()
    .describe('Hash of the block before it. Null where neither the store nor a node told it.'),
})

export const apiVersion = z.object({ version: z.string().describe('Version of Almanac.') })

export const endpointWeights = z.array(
  z.object({
    endpoint: z.string().describe('Id of the operation.'),
    path: z.string().describe('Its path.'),
    rateLimitCost: decimal.describe('What it counts against the rate of a key: always 1.'),
    price: decimal.describe('What it counts against the quota of a key: always 1.'),
  }),
)

export const nativeBalance = z.object({ balance: decimal.describe('What the wallet holds, in the smallest unit.') })

export const nativeBalances = z.array(
  z.object({
    chain: chainName,
    chain_id: chainId,
    total_balance: decimal.describe('Sum of the balances, in the smallest unit.'),
    block_number: decimal.describe('The block after which the balances are.'),
    block_timestamp: utcTime.describe('Time of that block, in UTC.'),
    total_balance_formatted: z.string().describe('The sum in the main unit, exact.'),
    wallet_balances: z
      .array(
        z.object({
          address: hexAddress.describe('The wallet, lower case.'),
          balance: decimal.describe('What it holds, in the smallest unit.'),
          balance_formatted: z.string().describe('The same in the main unit, exact.'),
        }),
      )
      .describe('One row for each wallet.'),
  }),
)

export const metadataResync = z.object({
  status: z.enum(['pending', 'completed']).describe('`pending`: it is being read. `completed`: it was read.'),
})

export const contractMetadata = z.object({
  token_address: contract.token_address,
  name: contract.name,
  symbol: contract.symbol,
  contract_type: standard,
  synced_at: z.iso.datetime().nullable().describe('When the contract was asked for its names; null until then.'),
  possible_spam: contract.possible_spam,
  verified_collection: contract.verified_collection,
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
    .max(25)
    .describe('From 1 to 25 contracts; the answer has them in this order.'),
})

const pubkey = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)

export const holding = z.object({
  associatedTokenAddress: pubkey.describe('The token account that holds it.'),
  mint: pubkey.describe('Address of the mint.'),
  name: z.string().describe('Name of the mint; empty if it has none.'),
  symbol: z.string().describe('Symbol of the mint; empty if it has none.'),
  amount: z.string().describe('How much, in the main unit, exact.'),
  amountRaw: decimal.describe('How much, in the smallest unit.'),
  decimals: z.int().min(0).max(255).describe('By how many digits the units differ.'),
})

export const portfolio = z.object({
  nativeBalance: z
    .object({
      lamports: decimal.describe('SOL in its smallest unit.'),
      solana: z.string().describe('SOL in the main unit, exact.'),
    })
    .describe('What the account holds of SOL.'),
  nfts: z.array(holding).describe('The NFTs of the account.'),
  tokens: z.array(holding).describe('The other tokens of the account.'),
})

export const solanaBalance = portfolio.shape.nativeBalance
export const solanaHoldings = z.array(holding)

const mintFields = {
  mint: pubkey.describe('Address of the mint.'),
  standard: z.enum(['metaplex', '']).describe('Empty for a mint without Metaplex metadata.'),
  name: z.string().describe('Name of the mint; empty if it has none.'),
  symbol: z.string().describe('Symbol of the mint; empty if it has none.'),
  tokenStandard: z.int().nullable().describe('Of Metaplex; null where the metadata does not say it.'),
  totalSupply: decimal.describe('In the smallest unit.'),
  metaplex: z
    .object({
      metadataUri: z.string().describe('Where the rest of the metadata is.'),
      updateAuthority: pubkey.describe('Who may change the metadata.'),
      sellerFeeBasisPoints: z.int().min(0).describe('Share of a sale for the creators, in hundredths of a percent.'),
      primarySaleHappened: z.int().min(0).max(1).describe('1 once it was sold for the first time.'),
      isMutable: z.boolean().describe('Whether the metadata may change.'),
      masterEdition: z.boolean().describe('Whether the mint has a master edition.'),
    })
    .describe(
      'Of a mint without Metaplex metadata: empty, zero and false, with the mint authority, or the system program where there is none, as update authority.',
    ),
}
export const solanaNftMetadata = z.object({
  ...mintFields,
  description: plainValue.optional().describe('Of the metadata file, as are the next ones: only where it was fetched.'),
  image: plainValue.optional().describe('Where its picture is.'),
  externalUrl: plainValue.optional().describe('A page about it.'),
  animationUrl: plainValue.optional().describe('Where its film or sound is.'),
  attributes: z
    .array(z.object({ traitType: plainValue.describe('Which trait.'), value: plainValue.describe('Its value.') }))
    .optional()
    .describe('Its traits.'),
  metadataEvidence: evidence.optional(),
})
export const solanaTokenMetadata = z.object({
  ...mintFields,
  decimals: decimal.describe('By how many digits the units differ.'),
  totalSupplyFormatted: z.string().describe('In the main unit, exact.'),
})

const code = z.string().describe('One of the closed list of codes: `/docs/errors.html`.')
const details = z
  .unknown()
  .optional()
  .describe('What the code is about, such as the parameter and what it accepts. Absent where there is nothing to add.')
const requestId = z.string().describe('Also in the header `X-Request-Id` and in the log.')

const errorFields = {
  message: z.string().describe('What failed, in a sentence for people.'),
  code,
  details,
  request_id: requestId,
}

export const failure = z.object(errorFields)
export const solanaFailure = z.object({
  ...errorFields,
  statusCode: z.int().describe('The HTTP status.'),
  error: z.string().describe('Its name, such as `Not Found`.'),
})
export const problem = z.object({
  type: z.string().describe('Names the code as a URI.'),
  title: z.string().describe('The name of the HTTP status.'),
  status: z.int().describe('The HTTP status.'),
  detail: z.string().describe('What failed, in a sentence for people.'),
  code,
  details,
  request_id: requestId,
})
