// Reads what answers show of a mint: its account, its Metaplex metadata, its edition and the chain's clock, in one call
// and so of one slot. Once for all who ask at the same time, and again when the reading is too old.

import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import { encodeKey } from '../base58.ts'
import { exactAmount } from '../exact-amount.ts'
import { textOfKey } from '../hex.ts'
import type { MetaplexFacts, MintFacts, MintReading } from '../model.ts'
import { Flights } from '../once.ts'
import type { SolanaStore } from '../store/solana-store.ts'
import { displayAmount } from './amounts.ts'
import {
  clockSysvar,
  decodeClock,
  decodeMetadata,
  decodeMetadataDetails,
  decodeMintAuthority,
  isMasterEdition,
  metadataProgram,
} from './decode.ts'
import { mintAccountOf, mintMetadataOf } from './mints.ts'
import { editionAddress, metadataAddress } from './pda.ts'
import type { AccountInfo } from './read-accounts.ts'
import type { SolanaRpc } from './rpc.ts'
import { part } from './source.ts'

const readingsAtOnceMax = 256
/** About 1 kB each, with a long URI. */
const rememberedMax = 5_000

type MintFactsOptions = { rpc: SolanaRpc; store: SolanaStore; maxAgeMs: number }

export class MintFactsReader {
  readonly #options: MintFactsOptions
  readonly #readings = new Flights<string, MintReading>({ max: readingsAtOnceMax, what: 'Solana mints' })
  readonly #known = new LRUCache<string, MintReading>(atMost(rememberedMax))

  constructor(options: MintFactsOptions) {
    this.#options = options
  }

  /** At most `maxAgeMs` old, also where there is no such mint. */
  async read(mint: Uint8Array): Promise<MintReading> {
    const key = textOfKey(mint)
    const known = this.#known.get(key)
    // A reading from the future was made before the clock went back.
    if (known !== undefined && Math.abs(Date.now() - known.readAtMs) <= this.#options.maxAgeMs) return known
    const reading = await this.#readings.join(key, () => this.#read(mint, known?.slot))
    this.#known.set(key, reading)
    return reading
  }

  async #read(mint: Uint8Array, notBefore: number | undefined): Promise<MintReading> {
    const { rpc, store } = this.#options
    const readAtMs = Date.now()
    const keys = [mint, metadataAddress(mint), editionAddress(mint)].map(key => encodeKey(key))
    const { slot, value } = await part(rpc, 'metadata', keys[0]!, () => rpc.accounts([...keys, clockSysvar], notBefore))
    const [own, metadata, edition, clock] = value
    const account = mintAccountOf(mint, own)
    if (account === undefined || own === undefined) return { slot, readAtMs, facts: null }
    const named = mintMetadataOf(mint, metadata)
    // Portfolios name the mint by it, and the limits of keys see that it is kept.
    await store.updateAccounts(rpc.network, { mints: [{ mint, slot, readAtMs, account, metadata: named }] })
    const { decimals, supply, amountRule } = account
    const chainTime = clock === undefined ? undefined : decodeClock(clock.data)?.unixTimestamp
    const authority = decodeMintAuthority(own.data)
    const facts: MintFacts = {
      decimals,
      supply: `${supply}`,
      displayedSupply:
        amountRule === undefined || chainTime === undefined
          ? exactAmount(`${supply}`, decimals)
          : displayAmount(supply, { decimals, amountRule }, chainTime),
      name: account.name ?? named.name ?? '',
      symbol: account.symbol ?? named.symbol ?? '',
      tokenStandard: named.tokenStandard ?? null,
      mintAuthority: authority === undefined ? null : encodeKey(authority),
      metaplex: metaplexOf(mint, metadata, edition),
    }
    return { slot, readAtMs, facts }
  }
}

/** The same accounts count as for a name: of the program, and of this mint. */
function metaplexOf(
  mint: Uint8Array,
  metadata: AccountInfo | undefined,
  edition: AccountInfo | undefined,
): MetaplexFacts | null {
  const decoded = metadata?.program === metadataProgram ? decodeMetadata(metadata.data) : undefined
  if (metadata === undefined || decoded === undefined || Buffer.compare(decoded.mint, mint) !== 0) return null
  const { updateAuthority, ...details } = decodeMetadataDetails(metadata.data)
  return {
    ...details,
    masterEdition: edition?.program === metadataProgram && isMasterEdition(edition.data),
    updateAuthority: encodeKey(updateAuthority),
  }
}
