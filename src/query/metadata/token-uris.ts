// The URIs and on-chain metadata of the tokens that an answer shows: at once where they are known, and read for later
// answers where they are not. No request waits long for a node, and nothing is fetched from the web.
import { within } from '../../abort.ts'
import type { Address, ChainId, ShownToken } from '../../model.ts'
import type { TokenKey, TokenUri, TokenUriStore } from '../../store/annotation-store.ts'
import type { Freshen } from '../freshen.ts'
import { metadataOf } from './token-metadata.ts'

/** All undefined until the token is read; the first two where the contract said nothing that can be shown. */
export type TokenDetails = {
  tokenUri: string | undefined
  /** JSON text: what a `data:` URI holds. */
  metadata: string | undefined
  /** When the contract was asked. */
  syncedAtMs: number | undefined
  /** It has a URI, and the answer has no room for it. */
  isLeftOut?: boolean
}

export type TokenDetailsAnswer = {
  /** In the order of the tokens. */
  details: TokenDetails[]
  /** Whether all were read; if not, the next answer may know more. */
  complete: boolean
}

const unknownDetails: TokenDetails = { tokenUri: undefined, metadata: undefined, syncedAtMs: undefined }

/** A node answers in less; an answer without URIs is better than a late one. */
const waitMs = 300
/** Collections reveal their URIs some time after the mint. */
const uriAgeMsMax = 7 * 86_400_000
/** Tokens get a URI later, and nodes that failed work again. */
const noneAgeMsMax = 86_400_000
/** Tokens that are being read for requests of this process. */
const askedMax = 10_000
/** Of one answer. A wallet can be sent tokens with URIs of 1.4 MB each, which must not make its list too large. */
const answerBytesMax = 2 * 2 ** 20
/** Longer URIs are read one after the other, and only while an answer has room for them. */
const usualBytesMax = 96 * 1_024

type Wait = (waiting: () => Promise<unknown>) => Promise<unknown>

export class TokenUris {
  readonly #store: TokenUriStore
  readonly #freshen: Freshen | undefined
  readonly #wait: Wait
  /** Each token is asked for once at a time, however many requests show it. */
  readonly #asked = new Map<string, Promise<void>>()

  /** `wait` goes around what a request waits for: it does no work meanwhile. */
  constructor(store: TokenUriStore, freshen: Freshen | undefined, wait: Wait = waiting => waiting()) {
    this.#store = store
    this.#freshen = freshen
    this.#wait = wait
  }

  /** Of these contracts those of which a token was read. */
  withStored(chain: ChainId, contracts: readonly Address[]): Promise<ReadonlySet<Address>> {
    return this.#store.contractsWithUris(chain, contracts)
  }

  /** What was read before, without long URIs; asks no node. In the order of the tokens. */
  async stored(chain: ChainId, tokens: readonly ShownToken[]): Promise<(TokenDetails | undefined)[]> {
    const known = new Map<string, TokenUri>()
    for (const uri of await this.#store.tokenUris(chain, tokens, usualBytesMax)) known.set(nameOf(chain, uri), uri)
    return tokens.map(token => {
      const found = known.get(nameOf(chain, token))
      return found && detailsOf(found)
    })
  }

  async of(chain: ChainId, tokens: readonly ShownToken[]): Promise<TokenDetailsAnswer> {
    const known = new Map<string, TokenUri>()
    const look = async (): Promise<void> => {
      const unknown = tokens.filter(token => !known.has(nameOf(chain, token)))
      if (unknown.length === 0) return
      for (const uri of await this.#store.tokenUris(chain, unknown, usualBytesMax)) known.set(nameOf(chain, uri), uri)
    }
    await look()
    const now = Date.now()
    const old = tokens.filter(token => isOld(known.get(nameOf(chain, token)), now))
    const asked = this.#ask(chain, old)
    // What was read before is shown meanwhile, so it is not waited for.
    const waited = old.flatMap((token, at) => (known.has(nameOf(chain, token)) ? [] : (asked[at] ?? [])))
    if (waited.length > 0) {
      await this.#wait(() => within(waitMs, Promise.all(waited)).catch(() => {}))
      await look()
    }
    const details = await this.#fit(chain, tokens, known)
    return { details, complete: tokens.every(token => known.has(nameOf(chain, token))) }
  }

  /** The usual URIs in the order of the tokens while there is room, then long ones. */
  async #fit(chain: ChainId, tokens: readonly ShownToken[], known: Map<string, TokenUri>): Promise<TokenDetails[]> {
    const found = tokens.map(token => known.get(nameOf(chain, token)))
    let room = answerBytesMax
    const fits = (bytes = 0): boolean => {
      if (bytes > room) return false
      room -= bytes
      return true
    }
    const details = found.map(each => {
      if (each === undefined) return unknownDetails
      const { uri, uriBytes, readAtMs } = each
      return uriBytes === undefined && fits(Buffer.byteLength(uri ?? '')) ? detailsOf(each) : leftOut(readAtMs)
    })
    for (const [at, long] of found.entries()) {
      if (long?.uriBytes === undefined || !fits(long.uriBytes)) continue
      const [read] = await this.#store.tokenUris(chain, [long])
      if (read !== undefined) details[at] = detailsOf(read)
    }
    return details
  }

  /** Has tokens read that are not being read. Undefined where too many are. */
  #ask(chain: ChainId, tokens: readonly ShownToken[]): (Promise<void> | undefined)[] {
    const freshen = this.#freshen?.tokenUris
    if (freshen === undefined) return []
    const room = askedMax - this.#asked.size
    const names = new Map(tokens.map(token => [nameOf(chain, token), token]))
    const unasked = [...names].filter(([name]) => !this.#asked.has(name)).slice(0, room)
    if (unasked.length > 0) {
      const over = (): void => {
        for (const [name] of unasked) this.#asked.delete(name)
      }
      const wanted = unasked.map(([, token]) => token)
      // What fails is asked for again by the next request.
      const reading = freshen(chain, wanted).then(over, over)
      for (const [name] of unasked) this.#asked.set(name, reading)
    }
    return tokens.map(token => this.#asked.get(nameOf(chain, token)))
  }
}

function detailsOf({ uri, readAtMs }: TokenUri): TokenDetails {
  return { tokenUri: uri, metadata: uri === undefined ? undefined : metadataOf(uri), syncedAtMs: readAtMs }
}

function leftOut(readAtMs: number): TokenDetails {
  return { ...unknownDetails, syncedAtMs: readAtMs, isLeftOut: true }
}

function nameOf(chain: ChainId, { contract, tokenId }: TokenKey): string {
  return `${chain} ${contract} ${tokenId}`
}

function isOld(known: TokenUri | undefined, now: number): boolean {
  if (known === undefined) return true
  const hasNone = known.uri === undefined && known.uriBytes === undefined
  return now - known.readAtMs > (hasNone ? noneAgeMsMax : uriAgeMsMax)
}
