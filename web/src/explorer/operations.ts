// The three operations as the explorer knows them: what each is called, how it is asked, and how the SDK asks the same.
import type { operations as documented } from '../../openapi.gen.ts'
import { service } from '../state/service.ts'
import type { OperationName, Values } from './question.ts'

export const operations = {
  transfers: {
    title: 'NFT transfers',
    about: 'The transfers of a contract, newest first.',
    path: '/api/v2.2/nft/{address}/transfers',
  },
  wallet: {
    title: 'Wallet chains',
    about: 'The chains on which a wallet is active, with its first and last transaction.',
    path: '/api/v2.2/wallets/{address}/chains',
  },
  portfolio: {
    title: 'Solana portfolio',
    about: 'The balance, tokens and NFTs of a Solana account.',
    path: '/account/{network}/{address}/portfolio',
  },
} as const satisfies Record<OperationName, { title: string; about: string; path: string }>

type TransferQuery = NonNullable<documented['getNFTContractTransfersV22']['parameters']['query']>

export function askTransfers({ address = '', ...query }: Values, signal: AbortSignal) {
  // The service itself reads the texts, and says what is wrong with them.
  return service.GET('/api/v2.2/nft/{address}/transfers', {
    params: { path: { address }, query: query as TransferQuery },
    signal,
  })
}

export function askWallet({ address = '', chains }: Values, signal: AbortSignal) {
  const query = chains === undefined ? {} : { chains: chains.split(',') }
  return service.GET('/api/v2.2/wallets/{address}/chains', { params: { path: { address }, query }, signal })
}

export function askPortfolio({ network = '', address = '' }: Values, signal: AbortSignal) {
  return service.GET('/account/{network}/{address}/portfolio', {
    params: { path: { network: network as 'mainnet', address } },
    signal,
  })
}
