// The accounts that development chains share, from their well-known mnemonic. Their keys are public: they are for local
// chains only.
import { pbkdf2Sync } from 'node:crypto'
import * as Address from 'ox/Address'
import * as HdKey from 'ox/HdKey'
import type { Hex } from 'ox/Hex'

export type Account = { address: Address.Address; privateKey: Hex }

const mnemonic = 'test test test test test test test test test test test junk'

/** How many accounts, from the first, have ether from the beginning. */
export const fundedAccounts = 10

// BIP-39 by OpenSSL: the same in JavaScript takes a tenth of a second for each account.
const root = HdKey.fromSeed(pbkdf2Sync(mnemonic, 'mnemonic', 2_048, 64, 'sha512'))
// All accounts lie below one key; the way to it is most of the work.
const parent = root.derive(HdKey.path({ index: 0 }).replace(/\/0$/, ''))
const known = new Map<number, Account>()

export function developmentAccount(index: number): Account {
  const account = known.get(index) ?? derivedAccount(index)
  known.set(index, account)
  return account
}

function derivedAccount(index: number): Account {
  const { privateKey, publicKey } = parent.derive(`m/${index}`)
  return { address: Address.fromPublicKey(publicKey, { checksum: true }), privateKey }
}
