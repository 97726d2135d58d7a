// The accounts that development chains share, from their well-known mnemonic. Everybody has these keys: they are for local chains only.
import { pbkdf2Sync } from 'node:crypto'
import { type HDAccount, HDKey, hdKeyToAccount } from 'viem/accounts'

export const mnemonic = 'test test test test test test test test test test test junk'

/** The first of them have ether from the beginning. */
export const fundedAccounts = 10

// As BIP-39 says, by OpenSSL: the same in JavaScript takes a tenth of a second for each account.
const root = HDKey.fromMasterSeed(pbkdf2Sync(mnemonic, 'mnemonic', 2_048, 64, 'sha512'))

export function developmentAccount(addressIndex: number): HDAccount {
  return hdKeyToAccount(root, { addressIndex })
}
