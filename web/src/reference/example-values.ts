// What the fields and the body of a request begin with: examples of this service, and the document's own where nothing
// is known.
import type { DocumentedOperation, Parameter } from '../state/document.ts'

type ExampleName =
  | ('chain' | 'network' | 'contract' | 'name' | 'tokenId' | 'wallet' | 'block' | 'transaction')
  | ('erc20' | 'erc20Symbol')
  | ('account' | 'nftMint' | 'tokenMint')

/** Several of each, for operations that take several. */
type Lists = { wallets?: readonly string[]; contracts?: readonly string[]; tokenIds?: readonly string[] }

export type LiveExamples = Partial<Record<ExampleName, string>> & Lists

/** The chains of a sandbox are some hours old. Once for all, because a form begins anew where its example changes. */
const anHourAgo = momentBefore(3_600_000)
const now = momentBefore(0)

function momentBefore(ms: number): string {
  return new Date(Date.now() - ms).toISOString().slice(0, 19)
}

const changesPath = '/changes'

/** Whether a form begins with a value of it. Without a block the changes are those from now on: none yet. */
export function isFilledAtFirst({ path }: DocumentedOperation, { name, required }: Parameter): boolean {
  return required || (path === changesPath && (name === 'contract' || name === 'from_block'))
}

/** What such a parameter begins with; of any other it is shown as an example. */
export function exampleOf(operation: DocumentedOperation, { name, example }: Parameter, live: LiveExamples): string {
  const { path } = operation
  const found: Readonly<Record<string, string | undefined>> = {
    chain: live.chain,
    network: live.network,
    contract: live.contract,
    token_id: live.tokenId,
    block_number_or_hash: live.block,
    number: live.block,
    date: live.block && anHourAgo,
    from: live.block && '0',
    at_block: live.block,
    // A page of changes reads on from there.
    from_block: path === changesPath ? live.block : live.block && '0',
    to_block: live.block,
    at_date: live.block && anHourAgo,
    from_date: live.block && anHourAgo,
    to_date: live.block && anHourAgo,
    fromDate: live.block && anHourAgo,
    toDate: live.block && now,
    to: live.block,
    hash: live.transaction,
    wallet_addresses: live.wallets?.join() ?? live.wallet,
    addresses: isOfTokens(path) ? live.erc20 : live.wallet,
    symbols: live.erc20Symbol,
    owner_address: live.erc20 && live.wallets?.[0],
    spender_address: live.erc20 && live.wallets?.[1],
    q: live.name,
    address: addressOf(operation, live),
    // No key has the documented one, and an order for the key in use would end it.
    id: path.startsWith('/keys/') ? '' : undefined,
  }
  return found[name] ?? String(example ?? '')
}

function isOfTokens(path: string): boolean {
  return path.includes('/erc20/') && !path.includes('/{address}/erc20')
}

function addressOf({ tags, path }: DocumentedOperation, live: LiveExamples): string | undefined {
  if (isOfTokens(path)) return live.erc20
  if (!tags.includes('Solana')) return /\/nft\/\{address\}/.test(path) ? live.contract : live.wallet
  if (path.startsWith('/account/')) return live.account
  return path.startsWith('/nft/') ? live.nftMint : live.tokenMint
}

/** The text of a body: its tokens and contracts are of this service too. */
export function bodyOf(example: unknown, live: LiveExamples): string {
  const { contract, contracts, tokenIds } = live
  const found: Readonly<Record<string, unknown>> = {
    tokens: tokenIds?.map(id => ({ token_address: contract, token_id: id })),
    addresses: contracts,
  }
  return JSON.stringify(example, (name, value) => found[name] ?? value, 2)
}
