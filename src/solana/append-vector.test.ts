import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../test/release-runs.ts'
import { appendVector, type SnapshotAccount, systemKey } from '../../test/solana-snapshot-archive.ts'
import { AppendVectorReader } from './append-vector.ts'
import { programKeys } from './decode.ts'
import { TarReader } from './tar.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytes => bytes.fill(1, 0, 1))
const account: fc.Arbitrary<SnapshotAccount> = fc.record({
  key,
  lamports: fc.constantFrom(0n, 1n, 2n ** 63n),
  program: fc.oneof(fc.constantFrom(...Object.values(programKeys), systemKey), key),
  data: fc.uint8Array({ maxLength: 400 }),
  writeVersion: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
})

function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const sorted = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...sorted, bytes.length].map((end, index) => bytes.subarray(sorted[index - 1] ?? 0, end))
}

test('the same accounts come out however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(account, { maxLength: 12 }),
      fc.array(fc.nat(6_000), { maxLength: 8 }),
      fc.nat(300),
      (accounts, cuts, unused) => {
        const seen: { key: string; program: string; data: string; version: bigint }[] = []
        const reader = new AppendVectorReader(({ key: own, program, data, writeVersion }) => {
          const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
          seen.push({ key: hex(own), program, data: hex(data), version: writeVersion })
        })
        reader.begin()
        for (const piece of pieces(appendVector(accounts, unused), cuts)) reader.push(piece)
        const names = Object.entries(programKeys)
        const wanted = accounts.flatMap(({ key: own, lamports, program, data, writeVersion = 0n }) => {
          const known = names.find(([, bytes]) => Buffer.compare(bytes, program) === 0)?.[0]
          const name = lamports === 0n ? 'gone' : known
          if (name === undefined) return []
          return [
            {
              key: Buffer.from(own).toString('hex'),
              program: name,
              data: Buffer.from(data).toString('hex'),
              version: writeVersion,
            },
          ]
        })
        expect(seen).toEqual(wanted)
        expect(reader.skipped).toBe(accounts.length - wanted.length)
      },
    ),
  )
})

test('random bytes never throw and never loop', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3_000 }), fc.array(fc.nat(3_000), { maxLength: 4 }), (bytes, cuts) => {
      const reader = new AppendVectorReader(() => {})
      reader.begin()
      for (const piece of pieces(Buffer.from(bytes), cuts)) reader.push(piece)
    }),
    { numRuns: propertyRuns(1_000), interruptAfterTimeLimit: 20_000, markInterruptAsFailure: true },
  )
})

test('a tar of random bytes is refused, not followed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 512, maxLength: 2_000 }), bytes => {
      bytes[0] = 1
      const tar = new TarReader({ entry: () => true, bytes: () => {} })
      expect(() => tar.push(Buffer.from(bytes))).toThrow(/archive is damaged/)
    }),
  )
})
