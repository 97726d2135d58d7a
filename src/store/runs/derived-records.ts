// The records that transfers add to a view, those of one key as one. Pure.
import { valueBytesMax } from './pack.ts'
import type { DerivedView, StoredTransfer } from './view.ts'

export class DerivedRecords {
  readonly #view: DerivedView
  /** By the characters of the key. */
  readonly #values = new Map<string, Uint8Array>()
  readonly #target = new Uint8Array(valueBytesMax)

  constructor(view: DerivedView) {
    this.#view = view
  }

  get size(): number {
    return this.#values.size
  }

  /** Of those keys alone that `wanted` has. */
  add(transfer: StoredTransfer, wanted?: { has: (key: string) => boolean }): void {
    this.#view.recordsOf(transfer, (key, value) => {
      const text = textOfKey(key)
      if (wanted !== undefined && !wanted.has(text)) return
      const known = this.#values.get(text)
      this.#values.set(text, known === undefined ? value : this.#combined(known, value))
    })
  }

  #combined(a: Uint8Array, b: Uint8Array): Uint8Array {
    return this.#target.slice(0, this.#view.combine(this.#target, a, a.length, b, b.length))
  }

  has(key: string): boolean {
    return this.#values.has(key)
  }

  /** In the order of keys. */
  sorted(): { key: Uint8Array; value: Uint8Array }[] {
    const records = Array.from(this.#values, ([text, value]) => ({ key: Buffer.from(text, 'latin1'), value }))
    return records.sort((a, b) => Buffer.compare(a.key, b.key))
  }
}

function textOfKey(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}
