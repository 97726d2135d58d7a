// Finds examples that answer here: a contract, a token, a wallet, a block, an ERC-20 token, a Solana account and its
// mints that this service has. It does not say which field takes which.
import { signal } from '@preact/signals'
import { toldOnce } from '../explorer/configured.ts'
import { apiDocument } from '../state/document.ts'
import { status } from '../state/live.ts'
import { type Schemas, service } from '../state/service.ts'
import type { LiveExamples } from './example-values.ts'
import { steadyContract } from './steady-contract.ts'

/** Undefined while they are looked for. */
export const liveExamples = signal<LiveExamples | undefined>(undefined)

let isAsked = false

/** Once; a key that may not look leaves the document's examples. `secret` is for those who are not signed in. */
export async function loadLiveExamples(secret?: string): Promise<void> {
  if (isAsked) return
  isAsked = true
  const headers = secret === undefined ? {} : { 'x-api-key': secret }
  try {
    const told = status.value ?? (await service.GET('/status', { headers })).data
    toldOnce.value = told
    const [chains, networks] = [Object.keys(told?.chains ?? {}), Object.keys(told?.solana ?? {})]
    liveExamples.value = { ...(await onChains(chains, headers)), ...(await onSolana(networks[0], headers)) }
  } catch {
    liveExamples.value = {}
  }
}

export function withoutLiveExamples(): void {
  if (!isAsked) liveExamples.value = {}
}

type Headers = Readonly<Record<string, string>>

async function onChains(chains: readonly string[], headers: Headers): Promise<LiveExamples> {
  for (const chain of chains) {
    const path = { chain }
    const { data } = await service.GET('/chains/{chain}/contracts', { params: { path }, headers })
    const found = steadyContract(data?.contracts ?? [])
    if (found === undefined) continue
    const { address, name } = found
    // The oldest ones stay the same.
    const query = { chain, order: 'ASC', limit: 10 } as never
    const transfers = await service.GET('/api/v2.2/nft/{address}/transfers', {
      params: { path: { address }, query },
      headers,
    })
    const rows = transfers.data?.result ?? []
    const row = await heldOf(rows, { chain, address }, headers)
    const others = (data?.contracts ?? [])
      .filter(each => each !== found && !each.possible_spam)
      .map(each => each.address)
    const two = (one: string, list: readonly string[]) => [...new Set([one, ...list])].slice(0, 2)
    return {
      ...{ chain, contract: address, ...(name === null ? {} : { name }) },
      contracts: two(address, others.sort()),
      ...(row === undefined
        ? {}
        : {
            wallets: two(
              row.to_address,
              rows.map(each => each.to_address),
            ),
            tokenIds: two(
              row.token_id,
              rows.map(each => each.token_id),
            ),
          }),
      ...(row === undefined ? {} : { tokenId: row.token_id, wallet: row.to_address, block: String(row.block_number) }),
      ...(row === undefined ? {} : { transaction: row.transaction_hash }),
      ...(row === undefined ? {} : await erc20Of(row.to_address, chain, headers)),
    }
  }
  return {}
}

type Transfer = Pick<
  Schemas['NamedTransferCollection']['result'][number],
  'token_id' | 'to_address' | 'block_number' | 'transaction_hash'
>

/** The first transfer of a token that still has an owner, to whom it is said to have gone: a burned one has nothing to show. */
async function heldOf(
  rows: readonly Transfer[],
  { chain, address }: { chain: string; address: string },
  headers: Headers,
): Promise<Transfer | undefined> {
  for (const row of rows.slice(0, 3)) {
    const path = { address, token_id: row.token_id }
    const { data } = await service.GET('/api/v2.2/nft/{address}/{token_id}/owners', {
      params: { path, query: { chain, limit: 1 } as never },
      headers,
    })
    const owner = data?.result?.[0]?.owner_of
    if (owner !== undefined) return { ...row, to_address: owner }
  }
  return rows[0]
}

/** A token that the wallet holds. */
async function erc20Of(wallet: string, chain: string, headers: Headers): Promise<LiveExamples> {
  // Balances are asked of a node, which costs nothing in a sandbox alone.
  if (apiDocument.value?.info['x-sandbox-key'] === undefined) return {}
  const { data } = await service.GET('/api/v2.2/{address}/erc20', {
    params: { path: { address: wallet }, query: { chain } as never },
    headers,
  })
  const token = data?.[0]
  if (token === undefined) return {}
  return { erc20: token.token_address, ...(token.symbol === null ? {} : { erc20Symbol: token.symbol }) }
}

/** Accounts that are looked at for one that holds both an NFT and a token. */
const accountsMax = 5

async function onSolana(network: string | undefined, headers: Headers): Promise<LiveExamples> {
  if (network === undefined) return {}
  const path = { network: network as 'mainnet' }
  const { data } = await service.GET('/solana/{network}/accounts', {
    params: { path, query: { limit: accountsMax } },
    headers,
  })
  const accounts = (data?.accounts ?? []).map(({ address }) => address)
  const [account] = accounts
  const first = { network, ...(account === undefined ? {} : { account }) }
  // What an account holds may be asked of a node, which costs nothing in a sandbox alone.
  if (apiDocument.value?.info['x-sandbox-key'] === undefined) return first
  for (const address of accounts) {
    const { data: held } = await service.GET('/account/{network}/{address}/portfolio', {
      params: { path: { ...path, address } },
      headers,
    })
    const [nft, token] = [held?.nfts[0]?.mint, held?.tokens[0]?.mint]
    if (nft !== undefined && token !== undefined) return { network, account: address, nftMint: nft, tokenMint: token }
  }
  return first
}
