// Writes rows of who owns what as lines of JSON for whole lists, straight from the columns of a sheet: the records of
// `nft-json.ts`, byte for byte. It knows no rules.
//
// A row is some copies of ready text with numbers in between, without an object or a text for each.
import type { ShownFacts } from '../../annotate/shown-facts.ts'
import { putMd5 } from '../../md5.ts'
import type { Address, TokenStandard } from '../../model.ts'
import { noAddress } from '../../query/holdings/address-table.ts'
import type { NftBatch } from '../../query/holdings/nft-batches.ts'
import type { AddressBatch } from '../../query/holdings/streams/holding-streams.ts'
import { blockOfPlace, placeBytes } from '../../store/runs/place-key.ts'
import { LentBytes, type Memory, takeMemory } from '../answer-memory.ts'
import { putAscii, putDecimal, putHex, putNumber } from '../json-bytes.ts'
import { flagFields, type NftOptions, type NftShape, noSingleMinter, standardFields, tokenFields } from './nft-json.ts'

export type NftLinesOptions = NftOptions & { shape: Exclude<NftShape, 'single'> }

/** Apart from what contracts and tokens say: 400 bytes of keys, two addresses, integers of up to 78 digits. */
const rowBytesMax = 900

const ownerKey = Buffer.from('","owner_of":"')
const blockKey = Buffer.from('","block_number":"')
const mintedKey = Buffer.from('","block_number_minted":')
const hashKey = Buffer.from(',"token_hash":"')
const amountKey = Buffer.from('","amount":"')
const minterKey = Buffer.from(',"minter_address":')
const nullText = Buffer.from('null')
const noMinterText = Buffer.from(JSON.stringify(noSingleMinter))
const hexStart = Buffer.from('0x')
const quote = 34
const addressKey = Buffer.from('{"walletAddresses":"0x')
const lineEnd = Buffer.from('"}\n')

/** What is the same in every row of a contract. */
type ContractTexts = {
  start: Buffer
  /** After the hash or the amount, up to what the token says of itself. By the standard. */
  erc721: Buffer
  erc1155: Buffer
  end: Buffer
}

export function writeNftLines(batch: NftBatch, options: NftLinesOptions): LentBytes {
  const texts = new Map(
    [...batch.facts].map(([contract, facts]) => [contract, contractTexts(contract, facts, options)]),
  )
  const tokens = batch.tokens?.map(token => Buffer.from(tokenText(token, options)))
  const contractBytes = Math.max(0, ...[...texts.values()].map(textBytes))
  const tokenBytes = tokens?.reduce((sum, { length }) => sum + length, 0) ?? 0
  const out = takeMemory(batch.length * (rowBytesMax + contractBytes) + tokenBytes)
  const writer = new NftLines(out, batch, options)
  for (let at = 0; at < batch.length; at++) {
    const contract = batch.contract ?? addressAt(batch, at)
    writer.put(at, contract, texts.get(contract)!, tokens?.[at] ?? noToken)
  }
  return new LentBytes(out, writer.end)
}

export function writeAddressLines({ addresses, numbers }: AddressBatch): LentBytes {
  const out = takeMemory(numbers.length * (addressKey.length + 40 + lineEnd.length))
  const { view } = addresses
  let at = 0
  for (const number of numbers) {
    at = put(out.bytes, at, addressKey)
    putHex(out.view, at, view, addresses.offsetOf(number), 20)
    at = put(out.bytes, at + 40, lineEnd)
  }
  return new LentBytes(out, at)
}

/** Where the id begins in what is hashed, after the contract. */
const idAt = 42
const hashBytes = 16

class NftLines {
  readonly #out: Buffer
  readonly #view: DataView
  readonly #batch: NftBatch
  readonly #options: NftLinesOptions
  readonly #addresses: DataView
  /** What is hashed: the contract and the id in decimal. */
  readonly #token = Buffer.alloc(256)
  readonly #tokenView = new DataView(this.#token.buffer, this.#token.byteOffset, this.#token.length)
  readonly #digest = new DataView(new ArrayBuffer(hashBytes))
  #idEnd = 0
  #contract: Address | undefined
  end = 0

  constructor({ bytes, view }: Memory, batch: NftBatch, options: NftLinesOptions) {
    this.#out = bytes
    this.#view = view
    this.#batch = batch
    this.#options = options
    this.#addresses = batch.sheet.addresses.view
  }

  put(at: number, contract: Address, texts: ContractTexts, tokenFacts: Buffer): void {
    const { shape } = this.#options
    const { sheet, rows, withins, minted } = this.#batch
    const row = rows[at]!
    if (contract !== this.#contract) putAscii(this.#token, 0, contract)
    this.#contract = contract
    this.#put(texts.start)
    this.#putId(row, withins[at]!)
    if (shape === 'wallet') this.#putAmount(row)
    if (shape !== 'contract') this.#putHeld(row)
    this.#put(mintedKey)
    this.#putTexted(minted === undefined ? sheet.columns.mintBlocks[row] : minted[at]?.block)
    this.#put(hashKey)
    putMd5(this.#digest, 0, this.#tokenView, this.#idEnd)
    this.#putHex(this.#digest, 0, hashBytes)
    if (shape !== 'wallet') this.#putAmount(row)
    const isErc721 = sheet.isErc721(row)
    this.#put(isErc721 ? texts.erc721 : texts.erc1155)
    this.#put(tokenFacts)
    this.#put(minterKey)
    if (isErc721) this.#putMinter(at, row)
    else this.#put(noMinterText)
    this.#put(texts.end)
  }

  #putId(row: number, within: number): void {
    const { ids, idWidth } = this.#batch.sheet.columns
    const id = within === 0 && this.#options.format === 'decimal' ? 0n : this.#batch.sheet.idOf(row) + BigInt(within)
    const token = this.#token
    if (within === 0) this.#idEnd = putDecimal(token, idAt, ids, row * idWidth, idWidth)
    else this.#idEnd = putAscii(token, idAt, `${id}`)
    if (this.#options.format === 'decimal') this.end += token.copy(this.#out, this.end, idAt, this.#idEnd)
    else this.#putText(`0x${id.toString(16)}`)
  }

  #putHeld(row: number): void {
    const { sheet, wallet } = this.#batch
    this.#put(ownerKey)
    if (wallet === undefined) this.#putAddress(sheet.columns.parties[row]!)
    else this.#putText(wallet)
    this.#put(blockKey)
    this.end = putNumber(this.#out, this.end, blockOfPlace(sheet.columns.places, row * placeBytes))
  }

  #putAmount(row: number): void {
    this.#put(amountKey)
    const amount = this.#batch.sheet.columns.amounts?.[row] ?? 1
    if (Number.isNaN(amount)) this.#putText(`${this.#batch.sheet.amountOf(row)}`)
    else this.end = putNumber(this.#out, this.end, amount)
  }

  /** A number as a text. */
  #putTexted(number: number | undefined): void {
    if (number === undefined) {
      this.#put(nullText)
      return
    }
    this.#out[this.end] = quote
    this.end = putNumber(this.#out, this.end + 1, number)
    this.#out[this.end++] = quote
  }

  #putMinter(at: number, row: number): void {
    const { sheet, minted } = this.#batch
    if (minted !== undefined) {
      const minter = minted[at]?.minter
      this.#putText(minter === undefined ? 'null' : `"${minter}"`)
      return
    }
    const minter = sheet.columns.minters[row]!
    if (minter === noAddress) {
      this.#put(nullText)
      return
    }
    this.#out[this.end++] = quote
    this.#putAddress(minter)
    this.#out[this.end++] = quote
  }

  #putAddress(party: number): void {
    this.#put(hexStart)
    this.#putHex(this.#addresses, this.#batch.sheet.addresses.offsetOf(party), 20)
  }

  #putHex(source: DataView, at: number, length: number): void {
    putHex(this.#view, this.end, source, at, length)
    this.end += 2 * length
  }

  #put(text: Buffer): void {
    this.end = put(this.#out, this.end, text)
  }

  #putText(text: string): void {
    this.end = putAscii(this.#out, this.end, text)
  }
}

function put(out: Buffer, at: number, text: Buffer): number {
  out.set(text, at)
  return at + text.length
}

/** The fields of an object without its brackets. */
function fieldsText(fields: object): string {
  return JSON.stringify(fields).slice(1, -1)
}

function contractTexts(contract: Address, facts: ShownFacts | undefined, { dialect }: NftLinesOptions): ContractTexts {
  // The text before it ends within quotes.
  const middle = (standard: TokenStandard) => Buffer.from(`",${fieldsText(standardFields(contract, facts, standard))},`)
  return {
    start: Buffer.from(`{"token_address":"${contract}","token_id":"`),
    ...{ erc721: middle('ERC721'), erc1155: middle('ERC1155') },
    end: Buffer.from(`,${fieldsText(flagFields(facts, dialect))}}\n`),
  }
}

function textBytes({ start, erc721, end }: ContractTexts): number {
  return start.length + erc721.length + 1 + end.length
}

function tokenText(token: Parameters<typeof tokenFields>[0], { normalizeMetadata }: NftOptions): string {
  return fieldsText(tokenFields(token, normalizeMetadata))
}

const noToken = Buffer.from(fieldsText(tokenFields(undefined, false)))

function addressAt({ sheet, rows }: NftBatch, at: number): Address {
  return sheet.addresses.addressOf(sheet.columns.parties[rows[at]!]!)
}
