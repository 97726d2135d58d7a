// Recovers who signed: the address from a signature and the digest that it signs, as Ethereum does. It knows nothing of
// transactions.
//
// A second, on one core of arm64: libauth (libsecp256k1 in WebAssembly) 2,130, tiny-secp256k1 (the same) 1,790, noble
// (JavaScript) 436; native builds need scripts at installation. `npm run bench:senders` measures the first and last.
import {
  CompressionFlag,
  ContextFlag,
  instantiateSecp256k1Wasm,
} from '@bitauth/libauth/build/lib/bin/secp256k1/secp256k1-wasm.js'
import { keccakDigits } from './block-hash.ts'

/** `r` and `s`, 32 bytes each. */
const signatureBytes = 64
const digestBytes = 32
/** A byte that says so, and both coordinates. */
const publicKeyBytes = 65

const secp256k1 = await instantiateSecp256k1Wasm()
let room: ReturnType<typeof takeRoom> | undefined

/** Made when something is first recovered: most commands recover nothing, and the tables take time. */
function takeRoom() {
  const { malloc, heapU8: memory } = secp256k1
  const room = {
    context: secp256k1.contextCreate(ContextFlag.VERIFY),
    ...{ digest: malloc(digestBytes), signature: malloc(signatureBytes), parsed: malloc(signatureBytes + 1) },
    ...{ publicKey: malloc(64), serialized: malloc(publicKeyBytes), length: secp256k1.mallocSizeT(publicKeyBytes) },
  }
  return { ...room, memory, coordinates: memory.subarray(room.serialized + 1, room.serialized + publicKeyBytes) }
}

/**
 * The address, in small letters; undefined where nobody can have signed. `signature`: `r` and `s`. A large `s` is
 * taken: it was allowed before Homestead, and later blocks that have one are not of the chain. `parity`: 0 or 1.
 */
export function recoverSender(digest: Uint8Array, signature: Uint8Array, parity: number): string | undefined {
  if ((parity !== 0 && parity !== 1) || signature.length !== signatureBytes || digest.length !== digestBytes)
    return undefined
  room ??= takeRoom()
  const { context, memory, coordinates } = room
  memory.set(digest, room.digest)
  memory.set(signature, room.signature)
  const isRecovered =
    secp256k1.recoverableSignatureParse(context, room.parsed, room.signature, parity) === 1 &&
    secp256k1.recover(context, room.publicKey, room.parsed, room.digest) === 1
  if (!isRecovered) return undefined
  secp256k1.pubkeySerialize(context, room.serialized, room.length, room.publicKey, CompressionFlag.UNCOMPRESSED)
  return `0x${keccakDigits(coordinates).slice(24)}`
}
