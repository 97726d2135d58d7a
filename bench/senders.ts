// How many senders are recovered in a second of a core: by one thread alone, and by one on each core at once, beside what pure
// JavaScript does. By processor time, which other work on the machine hardly changes.
import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak256, keccakDigits } from '../src/evm/proof/block-hash.ts'
import { recoverSender } from '../src/evm/proof/recover-sender.ts'

type Signed = { digest: Uint8Array; signature: Uint8Array; parity: number; sender: string }
const measuredMs = 3_000

if (isMainThread) {
  const cores = availableParallelism()
  const alone = await inThreads(1)
  const together = await inThreads(cores)
  const perCore = Math.round(together.reduce((sum, rate) => sum + rate, 0) / cores)
  console.table({
    'one thread, a second': { recovered: alone[0] },
    [`one on each of ${cores} cores, each a second`]: { recovered: perCore },
    'one thread in pure JavaScript (noble), a second': { recovered: rateOf(recoverByNoble, signedOnes()) },
  })
} else
  parentPort!.postMessage(
    rateOf(({ digest, signature, parity }) => recoverSender(digest, signature, parity), signedOnes()),
  )

async function inThreads(count: number): Promise<number[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      new Worker(new URL(import.meta.url)).on('message', resolve).on('error', reject)
      return await promise
    }),
  )
}

function rateOf(recover: (signed: Signed) => string | undefined, ones: readonly Signed[]): number {
  for (const one of ones) if (recover(one) !== one.sender) throw new Error('another sender was recovered')
  const startedMs = performance.now()
  const before = process.threadCpuUsage()
  let count = 0
  for (; performance.now() - startedMs < measuredMs; count++) recover(ones[count % ones.length]!)
  const { user, system } = process.threadCpuUsage(before)
  return Math.round((1e6 * count) / (user + system))
}

function recoverByNoble({ digest, signature, parity }: Signed): string {
  const recovered = Buffer.concat([Buffer.of(parity), signature])
  return addressOf(secp256k1.Signature.fromBytes(recovered, 'recovered').recoverPublicKey(digest).toBytes(false))
}

function signedOnes(): Signed[] {
  return Array.from({ length: 64 }, (_, number) => {
    const key = keccak256(Uint8Array.of(1, number))
    const digest = keccak256(Uint8Array.of(2, number))
    const signed = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
    return {
      digest,
      signature: signed.subarray(1),
      parity: signed[0]!,
      sender: addressOf(secp256k1.getPublicKey(key, false)),
    }
  })
}

function addressOf(publicKey: Uint8Array): string {
  return `0x${keccakDigits(publicKey.subarray(1)).slice(24)}`
}
