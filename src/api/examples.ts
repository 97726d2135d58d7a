// Example answers for the OpenAPI document. Tests hold them against the schemas.

const transfer = {
  block_number: '16220243',
  block_timestamp: '2022-12-19T17:29:47',
  block_hash: '0xe4022d8da3d4b24e4ac3e8f7ee0ed4b1d1d6a5a36a5c1d1a6ec3a0e0c2f97e6a',
  transaction_hash: '0x46ab6d3c3d1ab1ff5ad8ea03d3dc6ba4f7f1ed8b4e5e0f0a96a7dd3f0be0e76d',
  transaction_index: 102,
  log_index: 269,
  value: '0',
  contract_type: 'ERC721',
  transaction_type: 'Single',
  token_address: '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d',
  token_id: '6955',
  from_address: '0xacdaeeb57ff6886fc8e203b9dd4c2b241df89b7a',
  from_address_label: null,
  to_address: '0x8ae57a027c63fca8070d1bf38622321de8004c67',
  to_address_label: null,
  amount: '1',
  operator: null,
}

const liveTransfer = {
  ...transfer,
  block_timestamp: '2022-12-19T17:29:47.000Z',
  possible_spam: false,
  verified_collection: true,
}

const cursor = 'AQC8TKDtp2R6i6twYhwuEYoYqTbxPQEBAbP8vwdmjQIA0QXDwNjIe5Hij1MF2b2f9A'
const truths = { block_exists: true, index_complete: true }

const walletChain = {
  chain: 'eth',
  chain_id: '0x1',
  first_transaction: {
    block_timestamp: '2015-09-28T08:24:43.000Z',
    block_number: '302086',
    transaction_hash: '0x9b629147b75dc0b275d478fa34d97c5d4a26926457540b15a5ce871df36c23fd',
  },
  last_transaction: {
    block_timestamp: '2023-07-18T22:00:59.000Z',
    block_number: '17722945',
    transaction_hash: '0xde35a4e5a5a9a1a2a0d7e2f9ea1d8e6f1e1ab0a5f0c7b8a94b0f32b4c1f293e4',
  },
}
const wallet = '0x26fcbd3afebbe28d0a8684f790c48368d21665b5'

export const examples = {
  transfers: {
    reference: {
      total: null,
      page: '0',
      page_size: '1',
      cursor,
      result: [{ ...transfer, possible_spam: 'false', verified_collection: 'true' }],
      ...truths,
    },
    live: { total: 14, page: 0, page_size: 1, cursor, result: [liveTransfer], ...truths },
  },
  namedTransfers: {
    live: {
      page: 0,
      page_size: 1,
      cursor: null,
      result: [{ ...liveTransfer, token_name: 'BoredApeYachtClub', token_symbol: 'BAYC' }],
      ...truths,
    },
  },
  walletChains: {
    reference: { address: wallet, active_chains: [walletChain] },
    live: {
      address: wallet,
      active_chains: [
        walletChain,
        { chain: 'polygon', chain_id: '0x89', first_transaction: null, last_transaction: null },
      ],
    },
  },
  contracts: {
    one: {
      chain: 'eth',
      contracts: [{ address: transfer.token_address, transfers: 191_204, name: 'BoredApeYachtClub', symbol: 'BAYC' }],
      after: null,
    },
  },
  portfolio: {
    account: {
      nativeBalance: { lamports: '902329912', solana: '0.902329912' },
      nfts: [
        {
          associatedTokenAddress: 'Aymvy5sNtxRpUBFT19nNetsGb4VBpmb6qyPs2ybGPUcr',
          mint: '9PN8gNqJy5mVnr8PJSaiKULG2inbTZxm4Xwgc2LM6x5Z',
          name: 'Nug 5585',
          symbol: 'METAWANA',
          amount: '1',
          amountRaw: '1',
          decimals: 0,
        },
      ],
      tokens: [
        {
          associatedTokenAddress: 'J3sQDCWQQuZRCSgW7BWZ8s8Zoz16mprPxoCuryo6YXUX',
          mint: 'VVWAy5U2KFd1p8AdchjUxqaJbZPBeP5vUQRZtAy8hyc',
          name: 'Flip',
          symbol: 'FLIP',
          amount: '7777',
          amountRaw: '7777000000000',
          decimals: 9,
        },
      ],
    },
  },
}
