// Decodes token accounts, mints and Metaplex metadata. Pure; odd bytes give undefined, never a throw or a long loop. It
// reads bytes in place: the official codecs are a hundred times slower and serve as oracles in the tests.
import { base58 } from '@scure/base'
import type { TokenProgram } from '../model.ts'
import { type AmountRule, formatAmountRule } from './amounts.ts'

export const tokenAccountBytes = 165
const mintBytes = 82
const multisigBytes = 355
const accountTypeAt = tokenAccountBytes
const extensionsAt = tokenAccountBytes + 1
const accountTypes = { mint: 1, tokenAccount: 2 } as const
const extensionTypes = { interestBearing: 10, metadataPointer: 18, tokenMetadata: 19, scaledUiAmount: 25 } as const
const metadataKey = 4
/** Of both versions of the account. */
const masterEditionKeys: readonly number[] = [2, 6]
/** Metaplex bounds its names; extensions have no bound. */
const nameBytesMax = 1_024

/** Keys are views of the given bytes: copy them to keep them. */
export type TokenAccount = { mint: Uint8Array; owner: Uint8Array; amount: bigint; frozen: boolean }

export function decodeTokenAccount(data: Uint8Array): TokenAccount | undefined {
  if (data.length !== tokenAccountBytes && !hasAccountType(data, accountTypes.tokenAccount)) return undefined
  const state = data[108]
  if (state !== 1 && state !== 2) return undefined
  return {
    mint: data.subarray(0, 32),
    owner: data.subarray(32, 64),
    amount: readU64(data, 64),
    frozen: state === 2,
  }
}

export type DecodedMint = {
  decimals: number
  supply: bigint
  amountRule: string | undefined
  /** Where the metadata pointer extension points; undefined where it is missing or empty. */
  metadataAddress: Uint8Array | undefined
  /** The token metadata extension. */
  metadata: { name: string; symbol: string } | undefined
}

export function decodeMint(data: Uint8Array): DecodedMint | undefined {
  if (data.length !== mintBytes && !hasAccountType(data, accountTypes.mint)) return undefined
  if (data[45] !== 1) return undefined
  const extensions = data.length === mintBytes ? noExtensions : readExtensions(data)
  const pointer = extensions.get(extensionTypes.metadataPointer)?.subarray(32, 64)
  const rule = decodeAmountRule(extensions)
  return {
    supply: readU64(data, 36),
    decimals: data[44] ?? 0,
    amountRule: rule === undefined ? undefined : formatAmountRule(rule),
    metadataAddress: pointer?.length === 32 && pointer.some(byte => byte !== 0) ? pointer : undefined,
    metadata: decodeTokenMetadata(extensions.get(extensionTypes.tokenMetadata)),
  }
}

/** Who may mint more; undefined if no more can be minted. `data` is that of a mint. */
export function decodeMintAuthority(data: Uint8Array): Uint8Array | undefined {
  return data[0] === 1 ? data.subarray(4, 36) : undefined
}

/** `tokenStandard` is undefined where the account is old or its tail is corrupted. */
export type DecodedMetadata = { mint: Uint8Array; name: string; symbol: string; tokenStandard: number | undefined }

export function decodeMetadata(data: Uint8Array): DecodedMetadata | undefined {
  if (data[0] !== metadataKey) return undefined
  const reader = new Reader(data, 33)
  const mint = reader.bytes(32)
  const name = reader.name()
  const symbol = reader.name()
  if (reader.failed) return undefined
  return { mint, name, symbol, tokenStandard: decodeTokenStandard(reader) }
}

export type MetadataDetails = {
  updateAuthority: Uint8Array
  uri: string
  sellerFeeBasisPoints: number
  primarySaleHappened: boolean
  isMutable: boolean
}

/** What portfolios do not need of a metadata account that decodes. What cannot be read is empty, zero or false. */
export function decodeMetadataDetails(data: Uint8Array): MetadataDetails {
  const reader = new Reader(data, 65)
  reader.skip(reader.u32())
  reader.skip(reader.u32())
  const uri = reader.name()
  const sellerFeeBasisPoints = reader.u8() | (reader.u8() << 8)
  skipCreators(reader)
  const primarySaleHappened = reader.bool()
  const isMutable = reader.bool()
  return { updateAuthority: data.subarray(1, 33), uri, sellerFeeBasisPoints, primarySaleHappened, isMutable }
}

/** Whether an edition account is that of the original, of which others may be printed. */
export function isMasterEdition(data: Uint8Array): boolean {
  return masterEditionKeys.includes(data[0]!)
}

/** The unix time of the Clock sysvar: slot, epoch start, epoch, leader schedule epoch, unix timestamp. */
export function decodeClock(data: Uint8Array): { slot: number; unixTimestamp: number } | undefined {
  if (data.length < 40) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const unixTimestamp = Number(view.getBigInt64(32, true))
  const slot = Number(view.getBigUint64(0, true))
  return Number.isSafeInteger(unixTimestamp) && Number.isSafeInteger(slot) ? { slot, unixTimestamp } : undefined
}

function hasAccountType(data: Uint8Array, type: number): boolean {
  return data.length > tokenAccountBytes && data.length !== multisigBytes && data[accountTypeAt] === type
}

// Two 32-bit halves are slower than a DataView, but a DataView for every account costs more.
function readU64(data: Uint8Array, at: number): bigint {
  const low = (data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24)) >>> 0
  const high = (data[at + 4]! | (data[at + 5]! << 8) | (data[at + 6]! << 16) | (data[at + 7]! << 24)) >>> 0
  if (high < 0x20_0000) return BigInt(high * 0x1_0000_0000 + low)
  return (BigInt(high) << 32n) | BigInt(low)
}

const noExtensions: ReadonlyMap<number, Uint8Array> = new Map()

/** The first entry of each type counts, as in the program. Type 0 ends the list. */
function readExtensions(data: Uint8Array): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>()
  let at = extensionsAt
  while (at + 4 <= data.length) {
    const type = data[at]! | (data[at + 1]! << 8)
    const end = at + 4 + (data[at + 2]! | (data[at + 3]! << 8))
    if (type === 0 || end > data.length) break
    if (!found.has(type)) found.set(type, data.subarray(at + 4, end))
    at = end
  }
  return found
}

/** Interest first, as in the program. */
function decodeAmountRule(extensions: ReadonlyMap<number, Uint8Array>): AmountRule | undefined {
  const interest = extensions.get(extensionTypes.interestBearing)
  if (interest?.length === 52) {
    const view = new DataView(interest.buffer, interest.byteOffset, interest.byteLength)
    return {
      kind: 'interest',
      initializedAt: view.getBigInt64(32, true),
      averageRate: view.getInt16(40, true),
      updatedAt: view.getBigInt64(42, true),
      currentRate: view.getInt16(50, true),
    }
  }
  const scaled = extensions.get(extensionTypes.scaledUiAmount)
  if (scaled?.length === 56) {
    const view = new DataView(scaled.buffer, scaled.byteOffset, scaled.byteLength)
    return {
      kind: 'scaled',
      multiplier: view.getFloat64(32, true),
      nextFrom: view.getBigInt64(40, true),
      nextMultiplier: view.getFloat64(48, true),
    }
  }
  return undefined
}

function decodeTokenMetadata(extension: Uint8Array | undefined): DecodedMint['metadata'] {
  if (extension === undefined) return undefined
  const reader = new Reader(extension, 64)
  const name = reader.name()
  const symbol = reader.name()
  return reader.failed ? undefined : { name, symbol }
}

// The program drops standard, collection and uses together when one of them does not parse.
function decodeTokenStandard(reader: Reader): number | undefined {
  reader.skip(reader.u32())
  reader.skip(2)
  skipCreators(reader)
  reader.bool()
  reader.bool()
  if (reader.bool()) reader.skip(1)
  const standard = reader.bool() ? reader.below(6) : undefined
  if (reader.bool()) {
    reader.bool()
    reader.skip(32)
  }
  if (reader.bool()) {
    reader.below(3)
    reader.skip(16)
  }
  return reader.failed ? undefined : standard
}

function skipCreators(reader: Reader): void {
  if (reader.bool()) reader.skip(reader.u32() * 34)
}

/** Reads forward. Past the end or at an impossible value it fails for good and goes on with zeros. */
class Reader {
  failed = false
  readonly #data: Uint8Array
  #at: number

  constructor(data: Uint8Array, at: number) {
    this.#data = data
    this.#at = at
  }

  bytes(length: number): Uint8Array {
    const start = this.#at
    this.skip(length)
    return this.failed ? noBytes : this.#data.subarray(start, start + length)
  }

  skip(length: number): void {
    this.#at += length
    if (this.#at > this.#data.length) this.failed = true
  }

  u8(): number {
    this.skip(1)
    return this.failed ? 0 : this.#data[this.#at - 1]!
  }

  u32(): number {
    this.skip(4)
    if (this.failed) return 0
    const [data, at] = [this.#data, this.#at - 4]
    return (data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24)) >>> 0
  }

  below(limit: number): number {
    const value = this.u8()
    if (value >= limit) this.failed = true
    return value
  }

  bool(): boolean {
    return this.below(2) === 1
  }

  /** Without NULs: they pad names, and PostgreSQL refuses one inside. */
  name(): string {
    const bytes = this.bytes(this.u32())
    let end = Math.min(bytes.length, nameBytesMax)
    while (end > 0 && bytes[end - 1] === 0) end--
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('utf8')
    return text.includes('\0') ? text.replaceAll('\0', '') : text
  }
}

const noBytes = new Uint8Array(0)

export const systemProgram = '11111111111111111111111111111111'
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'
export const metadataProgram = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'

export const tokenPrograms: readonly TokenProgram[] = ['token', 'token-2022']

export const tokenProgramAddresses: Readonly<Record<TokenProgram, string>> = {
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'token-2022': 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
}

export const programKeys = {
  token: base58.decode(tokenProgramAddresses.token),
  'token-2022': base58.decode(tokenProgramAddresses['token-2022']),
  metadata: base58.decode(metadataProgram),
} as const

export function tokenProgramAt(address: string): TokenProgram | undefined {
  return tokenPrograms.find(program => tokenProgramAddresses[program] === address)
}
