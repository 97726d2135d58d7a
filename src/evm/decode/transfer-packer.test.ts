import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packTransfer } from '../../../test/pack-transfer.ts'
import { type Address, type Hash, type TransferFacts, zeroAddress } from '../../model.ts'
import { idCountMax, payloadFlags, unpackTransfer } from '../../store/transfer-payload.ts'
import { type HexTransfer, TransferPacker } from './transfer-packer.ts'

const max = 2n ** 256n - 1n
const uint = fc.oneof(fc.bigInt({ min: 0n, max }), fc.bigInt({ min: 0n, max: 300n }))
const hex = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map(value => `0x${Buffer.from(value).toString('hex')}`)
const address = fc.oneof(hex(20), fc.constant(zeroAddress as string)).map(text => text as Address)

const facts: fc.Arbitrary<TransferFacts> = fc.record({
  standard: fc.constantFrom('ERC721' as const, 'ERC1155' as const),
  batch: fc.boolean(),
  from: address,
  to: address,
  operator: fc.option(address, { nil: undefined }),
  tokenId: uint,
  amount: uint,
  value: uint,
  transactionHash: hex(32).map(text => text as Hash),
  idCount: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: idCountMax })),
})

/** A sender, and how it stands to the parties of a row. */
const sender = fc.constantFrom('to', 'from', 'someone', 'zero', 'none', 'broken')

function withSender(transfer: TransferFacts, who: string): { transfer: TransferFacts; sender: string | undefined } {
  const someone = `0x${'5e'.repeat(20)}`
  const senders: Record<string, string | undefined> = {
    ...{ to: transfer.to, from: transfer.from, someone, zero: zeroAddress, broken: `0x${'5g'.repeat(20)}` },
  }
  const address = senders[who]
  if (address === undefined || address === zeroAddress || who === 'broken') return { transfer, sender: address }
  const sentBy = address === transfer.to ? 'recipient' : address === transfer.from ? 'giver' : 'other'
  return { transfer: { ...transfer, sentBy }, sender: address }
}

const word = (value: bigint): string => value.toString(16).padStart(64, '0')

function hexOf(transfer: TransferFacts, upperCase: boolean, sentFrom?: string): HexTransfer {
  const shaped = (text: string): string => (upperCase ? `0x${text.slice(2).toUpperCase()}` : text)
  return {
    flags: (transfer.standard === 'ERC1155' ? payloadFlags.erc1155 : 0) | (transfer.batch ? payloadFlags.batch : 0),
    transactionHash: shaped(transfer.transactionHash),
    to: shaped(transfer.to),
    toAt: 2,
    from: shaped(transfer.from),
    fromAt: 2,
    operator: transfer.operator === undefined ? undefined : shaped(transfer.operator),
    operatorAt: 2,
    tokenId: `0x${word(transfer.tokenId)}`,
    tokenIdAt: 2,
    amount: `0x${word(7n)}${word(transfer.amount)}`,
    amountAt: 66,
    value: `0x${transfer.value.toString(16)}`,
    idCount: transfer.idCount,
    sender: sentFrom === undefined ? undefined : shaped(sentFrom),
  }
}

test('packs the bytes that the reference packs, row after row', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(facts, sender), { maxLength: 60, size: 'max' }), fc.boolean(), (drawn, upperCase) => {
      const rows = drawn.map(([transfer, who]) => withSender(transfer, who))
      const packer = new TransferPacker()
      const packed = rows.map(row => packer.pack(hexOf(row.transfer, upperCase, row.sender)))
      for (const [index, { transfer }] of rows.entries()) {
        expect(Buffer.compare(packed[index]!, packTransfer(transfer))).toBe(0)
        expect(unpackTransfer(packed[index]!).sentBy).toBe(transfer.sentBy)
      }
    }),
  )
})

test('a field that is not hex or too short gives no row, and harms no other', () => {
  const sample: TransferFacts = {
    standard: 'ERC721',
    batch: false,
    from: `0x${'01'.repeat(20)}` as Address,
    to: zeroAddress,
    operator: undefined,
    tokenId: 5n,
    amount: 1n,
    value: 0n,
    transactionHash: `0x${'02'.repeat(32)}` as Hash,
    idCount: 1,
  }
  const good = hexOf(sample, false)
  const packer = new TransferPacker()
  const bad: Partial<HexTransfer>[] = [
    { transactionHash: '0x02' },
    { transactionHash: `xx${'02'.repeat(32)}` },
    { from: `0x${'0g'.repeat(20)}` },
    { from: `0x${'01'.repeat(19)}` },
    { to: '' },
    { tokenId: `0x${'0'.repeat(63)}` },
    { tokenId: `0x${'0'.repeat(63)}€` },
    { amount: '0x', amountAt: 2 },
    { value: '0x' },
    { value: '100' },
    { value: `0x${'1'.repeat(65)}` },
  ]
  for (const change of bad) {
    expect(packer.pack({ ...good, ...change }), JSON.stringify(change)).toBeUndefined()
    expect(Buffer.compare(packer.pack(good)!, packTransfer(sample))).toBe(0)
  }
})
