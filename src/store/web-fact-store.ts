// What web servers and gateways said of the addresses in token URIs and metadata: a bounded copy, which is fetched
// again where it is lost.

export type WebFactStatus = 'success' | 'host_unavailable' | 'temporarily_unavailable' | 'unsupported_media'

export type WebFact = {
  /** SHA-256 of the address. */
  name: Buffer
  status: WebFactStatus
  /** `hash`: the content has the hash that its address names. `gateway`: whoever was asked said so. */
  evidence: 'hash' | 'gateway'
  /** By the bytes; null where there are none. */
  type: string | null
  size: number
  /** In pixels, of pictures that say so at their beginning. */
  width: number | null
  height: number | null
  readAtMs: number
  /** Undefined where there is none, or where it has more bytes than were asked for. */
  content: Buffer<ArrayBuffer> | undefined
}

export interface WebFactStore {
  /** Of those that were fetched, in any order. Content of more bytes is left out. */
  webFacts(names: readonly Buffer[], contentBytesMax: number): Promise<WebFact[]>
  /** `bytesMax`: of all facts together; of more, those go that were fetched first. `seen`: answers show another one. */
  putWebFact(fact: WebFact, options: { bytesMax: number; seen?: boolean }): Promise<void>
}
