// Signed, expiring links to pictures of tokens: an image element cannot send a key. It reads no data.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Address, ChainId } from '../../model.ts'

/** `payer`: whose request it is if a host has to be asked. */
export type MediaToken = { chain: ChainId; contract: Address; tokenId: bigint; payer?: MediaPayer }
export type MediaPayer = { id: string; isLimited: boolean }

/** Links stay the same for this long, so that browsers keep pictures, and work for as long again. */
const periodSeconds = 12 * 3_600

export class MediaLinks {
  readonly #key: Buffer

  constructor(secret: Uint8Array) {
    // A derived key: the store's secret signs other things too.
    this.#key = createHmac('sha256', secret).update('almanac media link').digest()
  }

  /** Path and query. */
  linkTo({ chain, contract, tokenId, payer }: MediaToken, nowMs = Date.now()): string {
    const until = (Math.floor(nowMs / 1_000 / periodSeconds) + 2) * periodSeconds
    const signed = `/media/${chain}/${contract}/${tokenId}?until=${until}${payer === undefined ? '' : `&payer=${payer.isLimited ? 'limited' : 'free'}-${payer.id}`}`
    return `${signed}&signature=${this.#signatureOf(signed)}`
  }

  /** Undefined for anything that was not signed byte for byte, and once it is over. */
  open(link: string, nowMs = Date.now()): MediaToken | undefined {
    const [, signed, chain, contract, tokenId, until, kind, payer, signature] =
      /^(\/media\/(\d{1,16})\/(0x[\da-f]{40})\/(\d{1,78})\?until=(\d{1,12})(?:&payer=(limited|free)-([\w-]{1,64}))?)&signature=([\w-]{43})$/.exec(
        link,
      ) ?? []
    if (signed === undefined || Number(until) * 1_000 < nowMs) return undefined
    if (!timingSafeEqual(Buffer.from(this.#signatureOf(signed)), Buffer.from(signature!))) return undefined
    const token = { chain: Number(chain) as ChainId, contract: contract as Address, tokenId: BigInt(tokenId!) }
    return payer === undefined ? token : { ...token, payer: { id: payer, isLimited: kind === 'limited' } }
  }

  #signatureOf(signed: string): string {
    return createHmac('sha256', this.#key).update(signed).digest('base64url')
  }
}
