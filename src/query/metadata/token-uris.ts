// The URIs and metadata of the tokens that an answer shows: at once where they are known, and read for later answers
// where they are not. No request waits long for a node or a host, and only hosts that the operator permits are asked.
import { within } from '../../abort.ts'
import type { Address, ChainId, ShownToken } from '../../model.ts'
import type { TokenKey, TokenUri, TokenUriStore } from '../../store/annotation-store.ts'
import type { WebFact } from '../../store/web-fact-store.ts'
import type { Freshen, IndexingKey } from '../freshen.ts'
import { mediaOf } from './token-media.ts'
import { metadataOf } from './token-metadata.ts'
import { type WebAddress, webAddressOf } from './web-address.ts'
import { jsonType, type WebFacts } from './web-facts.ts'

/** All undefined until the token is read; the first two where the contract said nothing that can be shown. */
export type TokenDetails = {
  tokenUri: string | undefined
  /** JSON text: what a `data:` URI holds, or what lies where the URI points. */
  metadata: string | undefined
  /** When the contract was asked. */
  syncedAtMs: number | undefined
  /** It has a URI, and the answer has no room for it. */
  isLeftOut?: boolean
  /** What is known of where the URI points, where a host may be asked. Undefined: it was not fetched yet. */
  web?: { address: WebAddress; fact: WebFact | undefined }
  /** The same of the picture that the metadata names. */
  picture?: { address: WebAddress | undefined; fact: WebFact | undefined }
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
/** Gateways take longer than nodes. */
const webWaitMs = 1_000
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
  readonly #web: WebFacts | undefined
  /** Each token is asked for once at a time, however many requests show it. */
  readonly #asked = new Map<string, Promise<void>>()

  /** `wait` goes around what a request waits for: it does no work meanwhile. */
  constructor(
    store: TokenUriStore,
    freshen: Freshen | undefined,
    { wait = waiting => waiting(), web }: { wait?: Wait; web?: WebFacts | undefined } = {},
  ) {
    this.#store = store
    this.#freshen = freshen
    this.#wait = wait
    this.#web = web
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

  async of(chain: ChainId, tokens: readonly ShownToken[], key?: IndexingKey): Promise<TokenDetailsAnswer> {
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
    const areKnown = tokens.every(token => known.has(nameOf(chain, token)))
    if (this.#web === undefined || key === undefined) return { details, complete: areKnown }
    const isFetched = await this.#addFromWeb(this.#web, details, tokens, key)
    return { details, complete: areKnown && isFetched }
  }

  /**
   * Asks the contract for the URI again, unless only `metadata` is wanted, and fetches what it points to. Returns when
   * that is done, given up, or the time is over.
   */
  async again(
    chain: ChainId,
    token: ShownToken,
    { what, key, waitMs: patienceMs }: { what: 'uri' | 'metadata'; key: IndexingKey; waitMs: number },
  ): Promise<void> {
    const wait = (work: Promise<unknown>) => within(patienceMs, work).catch(() => {})
    if (what === 'uri') await wait(this.#freshen?.tokenUris?.(chain, [token]) ?? Promise.resolve())
    const [known] = await this.#store.tokenUris(chain, [token])
    const address = known?.uri === undefined ? undefined : webAddressOf(known.uri)
    if (address !== undefined)
      await wait(this.#web?.fetch(address, { purpose: 'metadata', key, seen: true }) ?? Promise.resolve())
  }

  /** Adds metadata and what is known of pictures. Returns whether nothing more is on its way. */
  async #addFromWeb(
    web: WebFacts,
    details: TokenDetails[],
    tokens: readonly ShownToken[],
    key: IndexingKey,
  ): Promise<boolean> {
    const places = details.map(({ tokenUri, metadata }) => {
      const address = tokenUri === undefined || metadata !== undefined ? undefined : webAddressOf(tokenUri)
      return address !== undefined && web.mayAsk(address) ? address : undefined
    })
    let facts = await factsAt(web, places)
    const now = Date.now()
    const fetching = places.flatMap((address, at) => {
      const fact = facts[at]
      if (address === undefined || (fact !== undefined && !web.isOld(fact, now))) return []
      const done = web.fetch(address, { purpose: 'metadata', key })
      return fact === undefined ? [done] : []
    })
    if (fetching.length > 0) {
      await this.#wait(() => within(webWaitMs, Promise.all(fetching)).catch(() => {}))
      facts = await factsAt(web, places)
    }
    let room = answerBytesMax
    for (const [at, address] of places.entries()) {
      if (address === undefined) continue
      const fact = facts[at]
      const detail: TokenDetails = { ...details[at]!, web: { address, fact } }
      details[at] = detail
      if (fact?.status !== 'success' || fact.type !== jsonType) continue
      if (fact.size > room) {
        detail.isLeftOut = true
        continue
      }
      room -= fact.size
      const whole = fact.content === undefined ? (await web.stored([address], fact.size))[0] : fact
      detail.metadata = whole?.content?.toString()
    }
    await addPictures(web, details, tokens)
    return places.every((address, at) => address === undefined || facts[at] !== undefined)
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

/** In the order of the places, with content that is not unusually long. */
async function factsAt(
  web: WebFacts,
  places: readonly (WebAddress | undefined)[],
  contentBytesMax = usualBytesMax,
): Promise<(WebFact | undefined)[]> {
  const addresses = places.filter(address => address !== undefined)
  const facts = await web.stored(addresses, contentBytesMax)
  let next = 0
  return places.map(address => (address === undefined ? undefined : facts[next++]))
}

async function addPictures(web: WebFacts, details: TokenDetails[], tokens: readonly ShownToken[]): Promise<void> {
  const places = details.map((detail, at) => pictureAddressOf(detail, tokens[at]!.tokenId))
  const facts = await factsAt(
    web,
    places.map(place => (place?.address !== undefined && web.mayAsk(place.address) ? place.address : undefined)),
    0,
  )
  for (const [at, place] of places.entries()) {
    const isAsked = place?.address === undefined || web.mayAsk(place.address)
    if (place !== undefined && isAsked) details[at] = { ...details[at]!, picture: { ...place, fact: facts[at] } }
  }
}

/** Where the picture of a token lies on the web: undefined where it is named nowhere or held by the metadata itself. */
export function pictureAddressOf(
  detail: Pick<TokenDetails, 'tokenUri' | 'metadata' | 'web'>,
  tokenId: bigint,
): { address: WebAddress | undefined } | undefined {
  const { web } = detail
  // Some URIs lead to the picture itself.
  if (web?.fact?.status === 'success' && web.fact.type !== jsonType) return { address: web.address }
  const media = mediaOf(detail)
  if (media === undefined || !('url' in media)) return undefined
  return { address: webAddressOf(media.url, { tokenId, ...(web && { within: web.address }) }) }
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
