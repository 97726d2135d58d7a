// The accounts of the tests on real nodes, by name, from the mnemonic that development chains share.
import { pbkdf2Sync } from 'node:crypto'
import { type HDAccount, HDKey, hdKeyToAccount } from 'viem/accounts'

export const mnemonic = 'test test test test test test test test test test test junk'

// As BIP-39 says, by OpenSSL: the same in JavaScript takes a tenth of a second for each account.
const root = HDKey.fromMasterSeed(pbkdf2Sync(mnemonic, 'mnemonic', 2_048, 64, 'sha512'))
const account = (addressIndex: number): HDAccount => hdKeyToAccount(root, { addressIndex })

export const accounts = {
  alice: account(0),
  bob: account(1),
  carol: account(2),
  dave: account(20),
  erin: account(21),
  frank: account(22),
}
export type AccountName = keyof typeof accounts

/** Those that have ether from the beginning. Anvil gives it to the mnemonic's first ten. */
export const funded = [accounts.alice, accounts.bob, accounts.carol]
