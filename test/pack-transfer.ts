// Packs a transfer from its facts, plainly: what the packer's bytes are compared with, and what tests and benchmarks fill stores with.
import { type SentBy, type TransferFacts, zeroAddress } from '../src/model.ts'
import { payloadFlags, payloadHeaderBytes } from '../src/store/transfer-payload.ts'

const sentByFlags: Record<SentBy, number> = {
  recipient: payloadFlags.sentByRecipient,
  giver: payloadFlags.sentByGiver,
  other: payloadFlags.sentByOther,
}

export function packTransfer(facts: TransferFacts): Uint8Array {
  const tokenId = bytesOf(facts.tokenId)
  const amount = facts.amount === 1n ? noBytes : facts.amount === 0n ? oneZeroByte : bytesOf(facts.amount)
  const value = bytesOf(facts.value)
  const fromZero = facts.from === zeroAddress
  const toZero = facts.to === zeroAddress
  const range = facts.idCount !== 1
  const payload = Buffer.allocUnsafe(
    payloadHeaderBytes +
      32 +
      (toZero ? 0 : 20) +
      (fromZero ? 0 : 20) +
      (facts.operator === undefined ? 0 : 20) +
      tokenId.length +
      amount.length +
      value.length +
      (range ? 4 : 0),
  )
  payload[0] =
    (facts.standard === 'ERC1155' ? payloadFlags.erc1155 : 0) |
    (facts.batch ? payloadFlags.batch : 0) |
    (fromZero ? payloadFlags.fromZero : 0) |
    (toZero ? payloadFlags.toZero : 0) |
    (facts.operator === undefined ? 0 : payloadFlags.operator) |
    (range ? payloadFlags.range : 0) |
    (facts.sentBy === undefined ? 0 : sentByFlags[facts.sentBy])
  payload[1] = tokenId.length
  payload[2] = amount.length
  payload[3] = value.length
  let at = payloadHeaderBytes
  at += payload.write(facts.transactionHash.slice(2), at, 'hex')
  if (!toZero) at += payload.write(facts.to.slice(2), at, 'hex')
  if (!fromZero) at += payload.write(facts.from.slice(2), at, 'hex')
  if (facts.operator !== undefined) at += payload.write(facts.operator.slice(2), at, 'hex')
  for (const field of [tokenId, amount, value]) {
    payload.set(field, at)
    at += field.length
  }
  if (range) payload.writeUInt32BE(facts.idCount, at)
  return payload
}

const noBytes = new Uint8Array(0)
const oneZeroByte = new Uint8Array(1)

function bytesOf(value: bigint): Uint8Array {
  if (value === 0n) return noBytes
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}
