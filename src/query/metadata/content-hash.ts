// Checks what a gateway sends against the hash in its address, and reads blocks of IPFS: raw ones, and files and
// folders of UnixFS. Pure.
import { createHash } from 'node:crypto'
import { base32, base58, hex } from '@scure/base'

/** `raw`: the bytes themselves. `node`: a file or folder, whose parts are other blocks. */
export type ContentId = { codec: 'raw' | 'node'; digest: Buffer; text: string }

const codecs: Readonly<Record<number, ContentId['codec']>> = { 85: 'raw', 112: 'node' }
const sha256 = 0x12
const digestBytes = 32

/** Undefined for other hashes and kinds of content: they are not checked. */
export function contentIdOf(text: string): ContentId | undefined {
  try {
    if (/^Qm[1-9A-HJ-NP-Za-km-z]{44}$/.test(text)) return idOf('node', base58.decode(text), text)
    const bytes = decoded(text)
    const codec = bytes?.[0] === 1 ? codecs[bytes[1]!] : undefined
    return codec && idOf(codec, bytes!.subarray(2), text)
  } catch {
    return undefined
  }
}

function decoded(text: string): Uint8Array | undefined {
  if (text.length > 100) return undefined
  const rest = text.slice(1)
  if (/^b[a-z2-7]+$/i.test(text)) return base32.decode(rest.toUpperCase().padEnd(Math.ceil(rest.length / 8) * 8, '='))
  if (text.startsWith('z')) return base58.decode(rest)
  return text.startsWith('f') ? hex.decode(rest.toLowerCase()) : undefined
}

function idOf(codec: ContentId['codec'], multihash: Uint8Array, text?: string): ContentId | undefined {
  const [kind, length] = multihash
  if (kind !== sha256 || length !== digestBytes || multihash.length !== 2 + digestBytes) return undefined
  const digest = Buffer.from(multihash.subarray(2))
  const bytes = Buffer.concat([Buffer.from([1, codec === 'raw' ? 85 : 112]), multihash])
  return { codec, digest, text: text ?? `b${base32.encode(bytes).toLowerCase().replaceAll('=', '')}` }
}

export function hasHash(bytes: Uint8Array, { digest }: ContentId): boolean {
  return createHash('sha256').update(bytes).digest().equals(digest)
}

export type Link = { name: string; id: ContentId | undefined }
/** `bytes`: what of a file lies in the block itself. Undefined: neither a file nor a plain folder. */
export type UnixNode = { kind: 'file'; bytes: Uint8Array; links: Link[] } | { kind: 'folder'; links: Link[] }

/** Of a block whose hash was checked. */
export function unixNodeOf(block: Uint8Array): UnixNode | undefined {
  try {
    const fields = fieldsOf(block)
    const links = fields.filter(({ number }) => number === 2).map(({ bytes }) => linkOf(bytes))
    const inner = fieldsOf(fields.find(({ number }) => number === 1)?.bytes ?? new Uint8Array())
    const kind = inner.find(({ number }) => number === 1)?.value
    if (kind === 1) return { kind: 'folder', links }
    if (kind !== 0 && kind !== 2) return undefined
    return { kind: 'file', bytes: inner.find(({ number }) => number === 2)?.bytes ?? new Uint8Array(), links }
  } catch {
    return undefined
  }
}

function linkOf(bytes: Uint8Array): Link {
  const fields = fieldsOf(bytes)
  const [hash = new Uint8Array(), name = new Uint8Array()] = [1, 2].map(
    number => fields.find(field => field.number === number)?.bytes,
  )
  const id =
    hash[0] === sha256
      ? idOf('node', hash)
      : hash[0] === 1
        ? idOf(codecs[hash[1]!] ?? 'node', hash.subarray(2))
        : undefined
  return { name: Buffer.from(name).toString(), id: hash[0] === 1 && codecs[hash[1]!] === undefined ? undefined : id }
}

/** Of protobuf what these blocks use: numbers, and bytes with their length. */
type Field = { number: number; value: number; bytes: Uint8Array }

function fieldsOf(bytes: Uint8Array): Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let scale = 1; scale <= 2 ** 49; scale *= 128) {
      const byte = bytes[at++]
      if (byte === undefined) break
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    throw new Error('a number is cut or too large')
  }
  while (at < bytes.length) {
    const tag = varint()
    const value = varint()
    if ((tag & 7) === 0) {
      fields.push({ number: tag >> 3, value, bytes: new Uint8Array() })
      continue
    }
    if ((tag & 7) !== 2 || at + value > bytes.length) throw new Error('not a field of such a block')
    fields.push({ number: tag >> 3, value, bytes: bytes.subarray(at, at + value) })
    at += value
  }
  return fields
}
