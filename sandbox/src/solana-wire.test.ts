import { base58 } from '@scure/base'
import {
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  signatureBytes,
  verifySignature,
} from '@solana/kit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSigner } from './solana-signer.ts'
import { decodeTransaction, encodeTransaction, type Instruction } from './solana-wire.ts'

const signers = Array.from({ length: 4 }, (_, index) => createSigner(`signer ${index}`))
const keys = Array.from({ length: 40 }, (_, index) => createSigner(`key ${index}`).address)
const blockhash = createSigner('a hash').address

/** Accounts of several instructions, in which the same key may be written here and only read there. */
const instruction: fc.Arbitrary<Instruction> = fc.record({
  program: fc.constantFrom(...keys.slice(0, 3)),
  accounts: fc.array(
    fc.oneof(
      fc.record({ key: fc.constantFrom(...keys.slice(3)), writable: fc.boolean() }),
      fc.record({
        key: fc.constantFrom(...signers.map(({ address }) => address)),
        signer: fc.constant(true),
        writable: fc.boolean(),
      }),
    ),
    { maxLength: 12 },
  ),
  data: fc.uint8Array({ maxLength: 200 }),
})

describe('a transaction', () => {
  test('is what the official library reads', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(instruction, { minLength: 1, maxLength: 4 }), async instructions => {
        const [first, ...others] = signers as [(typeof signers)[0], ...typeof signers]
        const wire = encodeTransaction(instructions, { signers: [first, ...others], blockhash })
        const bytes = getBase64Encoder().encode(Buffer.from(wire).toString('base64'))
        const transaction = getTransactionDecoder().decode(bytes)
        const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes) as unknown as Legacy
        expect(message.lifetimeToken).toBe(blockhash)
        expect(message.staticAccounts[0]).toBe(first.address)
        const read = message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
          program: message.staticAccounts[programAddressIndex],
          accounts: accountIndices.map(index => message.staticAccounts[index]),
          data: Buffer.from(data ?? []).toString('hex'),
        }))
        expect(read).toEqual(
          instructions.map(({ program, accounts, data }) => ({
            program,
            accounts: accounts.map(({ key }) => key),
            data: Buffer.from(data).toString('hex'),
          })),
        )
        // Whatever one instruction writes or signs is so for the whole transaction.
        const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header
        const all = instructions.flatMap(({ accounts }) => accounts)
        message.staticAccounts.forEach((key, at) => {
          const isSigner = at < numSignerAccounts
          const readonlyFrom = isSigner
            ? numSignerAccounts - numReadonlySignerAccounts
            : message.staticAccounts.length - numReadonlyNonSignerAccounts
          const uses = all.filter(account => account.key === key)
          expect(isSigner).toBe(key === first.address || uses.some(({ signer }) => signer === true))
          expect(at < readonlyFrom).toBe(key === first.address || uses.some(({ writable }) => writable === true))
        })
        for (const [key, signature] of Object.entries(transaction.signatures)) {
          const bytesOfKey = Uint8Array.from(base58.decode(key))
          const publicKey = await crypto.subtle.importKey('raw', bytesOfKey, 'Ed25519', true, ['verify'])
          expect(await verifySignature(publicKey, signatureBytes(signature!), transaction.messageBytes)).toBe(true)
        }
        const decoded = decodeTransaction(wire)
        expect(decoded.keys).toEqual(message.staticAccounts)
        expect(decoded.signatures.map(({ key }) => key)).toEqual(Object.keys(transaction.signatures))
        expect(Buffer.compare(decoded.message, Buffer.from(transaction.messageBytes))).toBe(0)
      }),
      { numRuns: 50 },
    )
  })

  test('is not made without the signature of everybody who must sign', () => {
    const transfer = { program: keys[0]!, accounts: [{ key: keys[5]!, signer: true }], data: new Uint8Array() }
    expect(() => encodeTransaction([transfer], { signers: [signers[0]!], blockhash })).toThrow('must sign')
  })
})

type Legacy = {
  header: { numSignerAccounts: number; numReadonlySignerAccounts: number; numReadonlyNonSignerAccounts: number }
  staticAccounts: string[]
  lifetimeToken: string
  instructions: { programAddressIndex: number; accountIndices?: number[]; data?: Uint8Array }[]
}
