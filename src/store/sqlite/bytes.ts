// Between the model's hex texts and the bytes that are stored.

export function bytesOfHex(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

export function hexOf<T extends string>(bytes: unknown): T {
  const view = bytes as Uint8Array
  return `0x${Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('hex')}` as T
}
