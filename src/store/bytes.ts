// Between the model's hex texts and the bytes that engines store.

export function bytesOfHex(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

export function hexOf<T extends string>(bytes: Uint8Array): T {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}` as T
}
