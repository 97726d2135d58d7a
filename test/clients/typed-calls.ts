// Calls of a client that was generated from the published document. They compile only while the document says what is
// used here; nothing but the document tells the types.
import createClient from 'openapi-fetch'
import type { paths } from '../../web/openapi.gen.ts'

export function typedCalls(baseUrl: string, key: string) {
  const client = createClient<paths, 'application/json'>({ baseUrl, headers: { 'X-API-Key': key } })
  return {
    async transfers(address: string, query: { limit?: number; cursor?: string } = {}) {
      const { data, error, response } = await client.GET('/api/v2/nft/{address}/transfers', {
        params: { path: { address }, query: { chain: 'eth', format: 'decimal', ...query } },
      })
      if (data === undefined) return { status: response.status, failure: failureOf(error) }
      return {
        status: response.status,
        cursor: data.cursor ?? '',
        complete: data.index_complete,
        rows: data.result.map(row => ({
          block: row.block_number.length,
          tokenId: row.token_id.toUpperCase(),
          from: row.from_address.toLowerCase(),
          to: row.to_address.toLowerCase(),
          standard: row.contract_type satisfies 'ERC721' | 'ERC1155',
          place: row.transaction_index + row.log_index,
          operator: row.operator?.toLowerCase(),
        })),
      }
    },

    async transfersInOrder(address: string, order: 'ASC' | 'DESC') {
      const { data } = await client.GET('/api/v2.2/nft/{address}/transfers', {
        params: { path: { address }, query: { order, limit: 5 } },
      })
      return data?.result.map(row => ({ name: row.token_name?.toUpperCase(), block: Number(row.block_number) }))
    },

    async contracts(addresses: string[]) {
      const [first = ''] = addresses
      const one = await client.GET('/api/v2.2/nft/{address}/metadata', { params: { path: { address: first } } })
      const all = await client.POST('/api/v2.2/nft/metadata', { body: { addresses } })
      return {
        one: one.data?.name?.toUpperCase() ?? failureOf(one.error!).code,
        all: all.data?.map(contract => contract?.contract_type satisfies 'ERC721' | 'ERC1155' | undefined),
      }
    },

    async chains(address: string, chains: string[]) {
      const { data, error, response } = await client.GET('/api/v2/wallets/{address}/chains', {
        params: { path: { address }, query: { chains } },
      })
      if (data === undefined) return { status: response.status, failure: failureOf(error) }
      return {
        status: response.status,
        chains: data.active_chains.map(entry => ({
          name: entry.chain.toLowerCase(),
          id: Number(entry.chain_id),
          first: entry.first_transaction?.transaction_hash.toLowerCase(),
          last: entry.last_transaction?.block_number.toLowerCase(),
        })),
      }
    },

    async tokenOwners(address: string) {
      const { data, error } = await client.GET('/api/v2.2/erc20/{address}/owners', {
        params: { path: { address }, query: { chain: 'eth', order: 'ASC' } },
      })
      if (data === undefined) return { failure: failureOf(error) }
      return {
        supply: data.total_supply satisfies string | null,
        balances: data.balances satisfies 'exact' | 'read' | 'unchecked',
        owners: data.result.map(row => [row.owner_address.toLowerCase(), row.balance]),
      }
    },

    async walletTokens(address: string) {
      const { data, error } = await client.GET('/api/v2.2/{address}/erc20/transfers', {
        params: { path: { address }, query: { limit: 5 } },
      })
      return data?.result.map(row => row.token_symbol?.toUpperCase()) ?? failureOf(error!)
    },

    async portfolio(network: 'mainnet' | 'devnet', address: string) {
      const { data, error, response } = await client.GET('/account/{network}/{address}/portfolio', {
        params: { path: { network, address } },
      })
      if (data === undefined) return { status: response.status, failure: failureOf(error) }
      return {
        status: response.status,
        lamports: BigInt(data.nativeBalance.lamports),
        tokens: data.tokens.map(token => ({ mint: token.mint.trim(), decimals: token.decimals.toFixed() })),
        nfts: data.nfts.map(nft => nft.associatedTokenAddress.trim()),
      }
    },
  }
}

/** Every error has these, whatever its status. */
function failureOf(error: { message: string; code: string; request_id: string }) {
  return { message: error.message.trim(), code: error.code.trim(), requestId: error.request_id.trim() }
}
