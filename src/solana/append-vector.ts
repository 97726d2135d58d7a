// Walks the accounts in a file of a snapshot ("append vector") as its bytes come. It skips accounts of other programs,
// which are most of a snapshot, without an object or a copy.
import type { StoredAccount } from './account-rows.ts'
import { programKeys } from './decode.ts'

const headerBytes = 136
/** The runtime's own limit is 10 MiB. */
const dataBytesMax = 10 * 2 ** 20 + 1024

export type AccountSink = (account: StoredAccount) => void

const programs = Object.entries(programKeys).map(([name, key]) => {
  const bytes = Buffer.from(key)
  // The two token programs begin alike; the last bytes tell all three apart.
  return { name: name as keyof typeof programKeys, last: bytes.readUInt32LE(28), bytes }
})
const [tokenProgram, token2022Program, metadataProgram] = programs as [Program, Program, Program]
type Program = (typeof programs)[number]

export class AppendVectorReader {
  readonly #sink: AccountSink
  #rest: Buffer = Buffer.alloc(0)
  #skip = 0
  #over = false
  /** Accounts of other programs. */
  skipped = 0

  constructor(sink: AccountSink) {
    this.#sink = sink
  }

  /** Begins the next file. The rest of the one before is its unused end. */
  begin(): void {
    this.#rest = Buffer.alloc(0)
    this.#skip = 0
    this.#over = false
  }

  push(piece: Buffer): void {
    if (this.#over) return
    let bytes = piece
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, bytes.length)
      this.#skip -= skipped
      bytes = bytes.subarray(skipped)
    }
    if (this.#rest.length > 0) bytes = Buffer.concat([this.#rest, bytes])
    const at = this.#walk(bytes)
    // A copy: the caller may reuse the piece.
    this.#rest = at < bytes.length && !this.#over ? Buffer.from(bytes.subarray(at)) : Buffer.alloc(0)
    this.#skip += Math.max(0, at - bytes.length)
  }

  /** Returns where it stopped: at an incomplete header or account, or beyond the end. */
  #walk(bytes: Buffer): number {
    let at = 0
    while (at + headerBytes <= bytes.length) {
      const length = bytes.readUInt32LE(at + 8)
      if (length > dataBytesMax || bytes.readUInt32LE(at + 12) !== 0 || this.#isUnused(bytes, at, length)) {
        this.#over = true
        break
      }
      const program = this.#programAt(bytes, at)
      const end = at + headerBytes + length
      if (program === undefined) this.skipped++
      else if (end > bytes.length) break
      else
        this.#sink({
          writeVersion: bytes.readBigUInt64LE(at),
          key: bytes.subarray(at + 16, at + 48),
          program,
          data: bytes.subarray(at + headerBytes, end),
        })
      at = (end + 7) & ~7
    }
    return at
  }

  #programAt(bytes: Buffer, at: number): StoredAccount['program'] | undefined {
    if (bytes.readUInt32LE(at + 48) === 0 && bytes.readUInt32LE(at + 52) === 0) return 'gone'
    const last = bytes.readUInt32LE(at + 92)
    const program =
      last === tokenProgram.last
        ? tokenProgram
        : last === token2022Program.last
          ? token2022Program
          : last === metadataProgram.last
            ? metadataProgram
            : undefined
    if (program === undefined || bytes.compare(program.bytes, 0, 32, at + 64, at + 96) !== 0) return undefined
    return program.name
  }

  /** Files are longer than their content; the rest is zeros, which an account never is. */
  #isUnused(bytes: Buffer, at: number, length: number): boolean {
    if (length !== 0 || bytes.readUInt32LE(at + 16) !== 0 || bytes.readUInt32LE(at + 64) !== 0) return false
    for (let offset = at + 16; offset < at + 97; offset++) if (bytes[offset] !== 0) return false
    return true
  }
}
