// Transfers by wallet, newest first: one record for the giver and one for the recipient, one for both where they are
// the same, none for the zero address. A record tells the token and the amount, so what a wallet holds is a sum of its
// own records. Pure.
//
//   byte 0      flags (below)
//   4 bytes     the number of the contract
//   1 byte      the length of the token id
//   …           the token id and the amount: big-endian without leading zeros; no amount: 1
//   4 bytes     how many ids, if flagged
import { bytesOfHex } from '../../hex.ts'
import type { Address, Interval } from '../../model.ts'
import { placeBytes, type Span, spanOfPlaces, wordAt, writePlace } from '../runs/place-key.ts'
import { type IndexView, sameRecord } from '../runs/view.ts'
import { layOut, newLayout, payloadFlags } from '../transfer-payload.ts'

const addressBytes = 20
const headerBytes = 6

export const walletFlags = { received: 1, gave: 2, erc1155: 4, range: 8 } as const

const layout = newLayout()
const key = new Uint8Array(addressBytes + placeBytes)
const value = new Uint8Array(headerBytes + 32 + 32 + 4)

export const byWallet: IndexView = {
  id: 4,
  name: 'by_wallet',
  keyBytes: addressBytes + placeBytes,
  keysBeginWith: 'address',
  placeAt: addressBytes,
  isUnique: true,
  contractAt: 1,
  combine: sameRecord,
  recordsOf(transfer, add) {
    const { payload, contract } = transfer
    layOut(payload, 0, layout)
    const { flags, to, from, operator, tokenId, amount, idCount, end } = layout
    const isRange = (flags & payloadFlags.range) !== 0
    const kind = (flags & payloadFlags.erc1155 ? walletFlags.erc1155 : 0) | (isRange ? walletFlags.range : 0)
    new DataView(value.buffer).setUint32(1, contract)
    value[5] = amount - tokenId
    // The token id and the amount lie side by side in a payload too.
    value.set(payload.subarray(tokenId, layout.value), headerBytes)
    let length = headerBytes + layout.value - tokenId
    if (isRange) {
      value.set(payload.subarray(idCount, end), length)
      length += 4
    }
    writePlace(key, addressBytes, transfer)
    const addFor = (start: number, role: number): void => {
      key.set(payload.subarray(start, start + addressBytes))
      value[0] = kind | role
      add(key, value.subarray(0, length))
    }
    const isGiven = from < operator
    const isReceived = to < from
    if (isGiven && isReceived && Buffer.compare(payload.subarray(to, from), payload.subarray(from, operator)) === 0) {
      addFor(to, walletFlags.received | walletFlags.gave)
      return
    }
    if (isReceived) addFor(to, walletFlags.received)
    if (isGiven) addFor(from, walletFlags.gave)
  },
}

export function walletSpan(wallet: Address, interval: Interval): Span {
  return spanOfPlaces(bytesOfHex(wallet), interval)
}

export type WalletRecord = {
  /** `walletFlags`. */
  flags: number
  /** The number of the contract. */
  contract: number
  tokenId: bigint
  amount: bigint
  idCount: number
}

export function readWalletRecord(record: Uint8Array): WalletRecord {
  const flags = record[0]!
  const idEnd = headerBytes + record[5]!
  const end = flags & walletFlags.range ? record.length - 4 : record.length
  return {
    flags,
    contract: wordAt(record, 1),
    tokenId: integerOf(record.subarray(headerBytes, idEnd)),
    amount: idEnd === end ? 1n : integerOf(record.subarray(idEnd, end)),
    idCount: flags & walletFlags.range ? wordAt(record, end) : 1,
  }
}

function integerOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}
