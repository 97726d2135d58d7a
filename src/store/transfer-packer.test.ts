import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Address, type Hash, type TransferFacts, zeroAddress } from '../model.ts'
import { type HexTransfer, TransferPacker } from './transfer-packer.ts'
import { idCountMax, packTransfer, payloadFlags } from './transfer-payload.ts'

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

const word = (value: bigint): string => value.toString(16).padStart(64, '0')

function hexOf(transfer: TransferFacts, upperCase: boolean): HexTransfer {
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
  }
}

test('packs the bytes that the reference packs, row after row', () => {
  fc.assert(
    fc.property(fc.array(facts, { maxLength: 60, size: 'max' }), fc.boolean(), (rows, upperCase) => {
      const packer = new TransferPacker()
      const packed = rows.map(row => packer.pack(hexOf(row, upperCase)))
      for (const [index, row] of rows.entries()) expect(Buffer.compare(packed[index]!, packTransfer(row))).toBe(0)
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
