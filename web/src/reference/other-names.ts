// What else people call an operation: names at other services, and words of a question. It finds nothing itself.

/** By the id of the newest version. */
export const otherNames: Readonly<Record<string, readonly string[]>> = {
  getWalletNFTsV22: [
    ...['list all nfts of a wallet', 'nfts of an owner', 'getNFTsForOwner', 'qn_fetchNFTs'],
    ...['token gating', 'check ownership'],
  ],
  getContractNFTsV22: ['nfts of a collection', 'getNFTsForContract', 'getNFTsForCollection'],
  getNFTOwnersV22: [
    'owners of a collection',
    'holders of a collection',
    'getOwnersForContract',
    'getOwnersForCollection',
    'historical owners',
    'past owners',
    'owners at a block',
    'token gating',
  ],
  getNFTMetadataV22: ['nft metadata', 'metadata of a token', 'token uri', 'tokenURI', 'image of an nft'],
  getMultipleNFTsV22: ['batch', 'several nfts', 'nfts in bulk'],
  getNFTBulkContractMetadataV22: ['batch', 'several contracts', 'contracts in bulk'],
  getNativeBalancesForAddressesV22: ['batch', 'native balance of multiple wallets', 'balances of several wallets'],
  getNFTCollectionStatsV22: [
    'number of owners',
    'owner count',
    'number of holders',
    'total supply',
    'totalSupply',
    'count of nfts',
  ],
  getUniqueOwnersByCollectionV22: ['unique owners', 'unique holders'],
  rotateKey: ['rotate a key'],
  createKey: ['create a key'],
  revokeKey: ['revoke a key'],
  getNFTTokenIdOwnersV22: [
    ...['owner of a token', 'owner of an nft', 'ownerOf', 'getOwnersForNFT'],
    ...['owner of a token at a block', 'who owned a token at a block'],
  ],
  getNFTTransfersV22: ['ownership history', 'history of an nft', 'history of a token', 'past owners of a token'],
  getWalletNFTTransfersV22: ['nft history of a wallet', 'alchemy_getAssetTransfers', 'getAssetTransfers'],
  getNFTContractTransfersV22: [
    ...['transfers of a collection', 'getTransfersForContract'],
    ...['sort order', 'oldest first', 'newest first', 'order of transfers', 'sort transfers'],
  ],
  getNativeBalanceV22: ['native balance', 'balance at block', 'balance at a block', 'eth_getBalance'],
  getDateToBlockV22: [
    'block by date',
    'block number by date',
    'block at a date',
    'date to block',
    'block by timestamp',
  ],
  getWalletTokenBalancesV22: ['token balances', 'erc20 balances', 'getTokenBalances', 'alchemy_getTokenBalances'],
  getTokenOwnersV22: ['holders of a token', 'token holders', 'rich list', 'balanceOf'],
  getTokenMetadataV22: ['decimals', 'symbol of a token', 'token supply'],
  getChanges: [
    ...['subscribe', 'subscriptions', 'notifications', 'live transfers', 'real time', 'listen for transfers'],
    ...['changes', 'changes of transfers', 'server-sent events', 'sse', 'long polling', 'new transfers'],
  ],
  getPortfolio: ['portfolio', 'solana portfolio'],
  getSolanaNfts: ['solana nfts', 'nfts of a solana wallet'],
}
