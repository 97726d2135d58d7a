// Mints and their metadata: which must be read for a portfolio, and how. The store keeps them.
import { encodeKey } from '../base58.ts'
import { textOfKey } from '../hex.ts'
import { chunks } from '../rpc/batches.ts'
import type { Mint, MintAccount, MintMetadata, MintUpdate, SolanaStore } from '../store/solana-store.ts'
import { type DecodedMint, decodeMetadata, decodeMint, metadataProgram, tokenProgramAt } from './decode.ts'
import { metadataAddress } from './pda.ts'
import type { AccountInfo } from './read-accounts.ts'
import { accountsPerCallMax, type SolanaRpc } from './rpc.ts'

/** Names and standards change rarely; what an amount depends on is never this old. */
const namesMaxAgeMs = 10 * 60_000
const callsAtOnce = 4

export type MintReader = { rpc: SolanaRpc; store: SolanaStore; nowMs: () => number }

/**
 * Makes the store know every given mint; those that decide an amount as of `minContextSlot`. Returns those that the
 * node does not know: a mint with holders cannot be closed, so the node is wrong, and will be asked again.
 */
export async function ensureMints(
  { rpc, store, nowMs }: MintReader,
  mints: readonly Uint8Array[],
  minContextSlot: number,
): Promise<Uint8Array[]> {
  const known = new Map((await store.mintsOf(rpc.network, mints)).map(mint => [textOfKey(mint.mint), mint]))
  const oldest = nowMs() - namesMaxAgeMs
  const stale = mints.filter(mint => {
    const facts = known.get(textOfKey(mint))
    return facts === undefined || facts.readAtMs < oldest || (isVolatile(facts) && facts.slot < minContextSlot)
  })
  if (stale.length === 0) return []
  const updates = await readMints({ rpc, nowMs }, stale, minContextSlot)
  await store.updateAccounts(rpc.network, { mints: updates })
  const read = new Set(updates.map(({ mint }) => textOfKey(mint)))
  return stale.filter(mint => !read.has(textOfKey(mint)) && !known.has(textOfKey(mint)))
}

/** Whether the mint's own account decides what its holders are shown: by supply, rate or multiplier. */
export function isVolatile(mint: Mint): boolean {
  return mint.amountRule !== undefined || (mint.decimals === 0 && mint.tokenStandard === undefined)
}

/** Asks for a mint and its metadata in one call, so both are of one slot. Leaves out what the node does not know. */
export async function readMints(
  { rpc, nowMs }: Pick<MintReader, 'rpc' | 'nowMs'>,
  mints: readonly Uint8Array[],
  minContextSlot?: number,
): Promise<MintUpdate[]> {
  const parts = chunks(mints, accountsPerCallMax / 2)
  const updates: MintUpdate[] = []
  for (let first = 0; first < parts.length; first += callsAtOnce) {
    const read = parts.slice(first, first + callsAtOnce).map(async chunk => {
      const metadataKeys = chunk.map(metadataAddress)
      const keys = [...chunk, ...metadataKeys].map(key => encodeKey(key))
      const { slot, value } = await rpc.accounts(keys, minContextSlot)
      const readAtMs = nowMs()
      return chunk.flatMap((mint, index): MintUpdate[] => {
        const account = mintAccountOf(mint, value[index], metadataKeys[index]!)
        if (account === undefined) return []
        return [{ mint, slot, readAtMs, account, metadata: mintMetadataOf(mint, value[chunk.length + index]) }]
      })
    })
    for (const chunk of await Promise.all(read)) updates.push(...chunk)
  }
  return updates
}

/** Undefined where the account is not a mint of either token program. */
export function mintAccountOf(
  mint: Uint8Array,
  info: AccountInfo | undefined,
  metadataKey?: Uint8Array,
): MintAccount | undefined {
  const program = info === undefined ? undefined : tokenProgramAt(info.program)
  const decoded = info === undefined || program === undefined ? undefined : decodeMint(info.data)
  if (decoded === undefined || program === undefined) return undefined
  const names = pointsToMetaplex(mint, decoded, metadataKey) ? undefined : decoded.metadata
  return {
    program,
    decimals: decoded.decimals,
    supply: decoded.supply,
    name: names?.name,
    symbol: names?.symbol,
    amountRule: decoded.amountRule,
  }
}

/** The pointer decides which metadata counts. The address is derived only for the few mints that need it. */
function pointsToMetaplex(mint: Uint8Array, decoded: DecodedMint, metadataKey: Uint8Array | undefined): boolean {
  const pointer = decoded.metadataAddress
  if (pointer === undefined || decoded.metadata === undefined || Buffer.compare(pointer, mint) === 0) return false
  return Buffer.compare(pointer, metadataKey ?? metadataAddress(mint)) === 0
}

export function mintMetadataOf(mint: Uint8Array, info: AccountInfo | undefined): MintMetadata {
  const decoded = info?.program === metadataProgram ? decodeMetadata(info.data) : undefined
  if (decoded === undefined || Buffer.compare(decoded.mint, mint) !== 0)
    return { name: undefined, symbol: undefined, tokenStandard: undefined }
  return { name: decoded.name, symbol: decoded.symbol, tokenStandard: decoded.tokenStandard }
}
