// Transfers by contract and token, newest first, with both parties and the amount: who owns a token is told by its own
// records. ERC-2309 ranges stand before all tokens of their contract, because one is for many. Pure.
//
//   byte 0      flags of the payload: erc1155, fromZero, toZero, range, who sent it
//   20 bytes    to, absent when zero       20 bytes  from, absent when zero
//   …           the amount: big-endian without leading zeros; absent: 1
//   4 bytes     how many ids, if flagged
import { type Address, type Position, type SentBy, zeroAddress } from '../../model.ts'
import { contractBytes, placeBytes, wordAt, writePlace } from '../runs/place-key.ts'
import { type IndexView, sameRecord } from '../runs/view.ts'
import { layOut, newLayout, payloadFlags, sentByOf } from '../transfer-payload.ts'

const idBytes = 32
const kindAt = contractBytes
const idAt = kindAt + 1
const placeAt = idAt + idBytes
export const tokenKinds = { range: 0, single: 1 } as const
const keptFlags =
  payloadFlags.erc1155 | payloadFlags.fromZero | payloadFlags.toZero | payloadFlags.range | payloadFlags.sentByOther

const layout = newLayout()
const key = new Uint8Array(placeAt + placeBytes)
const value = new Uint8Array(1 + 20 + 20 + 32 + 4)

export const byToken: IndexView = {
  id: 5,
  name: 'by_token',
  keyBytes: placeAt + placeBytes,
  keysBeginWith: 'contract',
  placeAt,
  isUnique: true,
  combine: sameRecord,
  recordsOf(transfer, add) {
    const { payload, contract } = transfer
    layOut(payload, 0, layout)
    const { flags, to, operator, tokenId, amount, idCount, end } = layout
    new DataView(key.buffer).setUint32(0, contract)
    key[kindAt] = flags & payloadFlags.range ? tokenKinds.range : tokenKinds.single
    key.fill(0, idAt, placeAt)
    key.set(payload.subarray(tokenId, amount), placeAt - (amount - tokenId))
    writePlace(key, placeAt, transfer)
    value[0] = flags & keptFlags
    // Both parties lie side by side in a payload too.
    value.set(payload.subarray(to, operator), 1)
    let length = 1 + operator - to
    value.set(payload.subarray(amount, layout.value), length)
    length += layout.value - amount
    if (flags & payloadFlags.range) {
      value.set(payload.subarray(idCount, end), length)
      length += 4
    }
    add(key, value.subarray(0, length))
  },
}

/** What a key has after the number of its contract; readers give and get keys without that number. */
export const tokenKeyBytes = byToken.keyBytes - contractBytes

/** As it is stored. */
export function withContract(contract: number, rest: Uint8Array): Uint8Array {
  const stored = new Uint8Array(contractBytes + rest.length)
  new DataView(stored.buffer).setUint32(0, contract)
  stored.set(rest, contractBytes)
  return stored
}

/** As readers get them. */
export function withoutContract(keys: Uint8Array, length: number): Uint8Array {
  const shown = new Uint8Array(length * tokenKeyBytes)
  for (let at = 0; at < length; at++)
    shown.set(keys.subarray(at * byToken.keyBytes + contractBytes, (at + 1) * byToken.keyBytes), at * tokenKeyBytes)
  return shown
}

export function tokenKey(kind: number, tokenId: bigint, position: Position): Uint8Array {
  const made = new Uint8Array(tokenKeyBytes)
  made[0] = kind
  Buffer.from(made.buffer).write(tokenId.toString(16).padStart(idBytes * 2, '0'), 1, 'hex')
  writePlace(made, tokenPlaceAt, position)
  return made
}

/** Where the place begins in such a key. */
export const tokenPlaceAt = placeAt - contractBytes

/** Of the key that begins at `at`, without the number of the contract. */
export function tokenIdOfKey(keys: Uint8Array, at = 0): bigint {
  return BigInt(`0x${Buffer.from(keys.buffer, keys.byteOffset + at + 1, idBytes).toString('hex')}`)
}

export type TokenRecord = {
  isErc1155: boolean
  from: Address
  to: Address
  amount: bigint
  idCount: number
  sentBy: SentBy | undefined
}

export function readTokenRecord(record: Uint8Array): TokenRecord {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.length)
  const flags = bytes[0]!
  let at = 1
  const next = (isZero: number): Address => {
    if (isZero) return zeroAddress
    at += 20
    return `0x${bytes.toString('hex', at - 20, at)}` as Address
  }
  const to = next(flags & payloadFlags.toZero)
  const from = next(flags & payloadFlags.fromZero)
  const end = flags & payloadFlags.range ? bytes.length - 4 : bytes.length
  return {
    isErc1155: (flags & payloadFlags.erc1155) !== 0,
    from,
    to,
    amount: at === end ? 1n : BigInt(`0x${bytes.toString('hex', at, end)}`),
    idCount: flags & payloadFlags.range ? wordAt(bytes, end) : 1,
    sentBy: sentByOf(flags),
  }
}
