// Which names are like what was typed.
import { expect, test } from 'vitest'
import { isLike, nearestName } from './typo.ts'

test('one typing error in a word is forgiven, in each word, and none in a short one', () => {
  for (const typed of ['transfrs', 'trasnfers', 'tranzfers', 'ttransfers', 'trnasf', 'wallt trasfers'])
    expect(isLike(typed, 'NFT transfers of a wallet'), typed).toBe(true)
  for (const typed of ['trnzfers', 'ntf', 'wallet of cats', 'balances'])
    expect(isLike(typed, 'NFT transfers of a wallet'), typed).toBe(false)
})

test.each([
  ['getNFTOwnerz', 'getNFTOwners'],
  ['nftTransfersOfWallet', 'getWalletNFTTransfers'],
  ['getContractNFT', 'getContractNFTs'],
  ['getNFTBlah', 'getNFTOwners'],
  ['zzzqqq', undefined],
])('%s is nearest to %s', (text, name) => {
  const names = ['getNFTOwners', 'getWalletNFTTransfers', 'getSolanaNfts', 'getContractNFTs', 'getTokenPrice']
  expect(nearestName(text, names)).toBe(name)
})
