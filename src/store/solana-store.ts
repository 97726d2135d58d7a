// Solana accounts and mints as they are stored. Keys are raw 32 bytes; `solana/amounts.ts` decides how an amount is
// displayed.
import { type SolanaNetwork, solanaNetworks, type TokenProgram } from '../model.ts'

/** The number of a network in the tables. */
export function networkNumber(network: SolanaNetwork): number {
  return solanaNetworks.indexOf(network)
}

/**
 * What was read of an owner itself. `chainTime` is the unix time of the chain's own clock at `slot`: the displayed
 * amount of interest-bearing and scaled mints depends on it.
 */
export type SolanaAccount = { owner: Uint8Array; lamports: bigint; slot: number; chainTime: number; readAtMs: number }

export type Holding = {
  account: Uint8Array
  owner: Uint8Array
  mint: Uint8Array
  amount: bigint
  program: TokenProgram
  slot: number
  /** Orders updates within a slot; 0 where the source has none. */
  writeVersion: bigint
}

/** A closed account is remembered this long; no source delivers an update that late. */
export const closedKeptMs = 24 * 60 * 60 * 1000
/** One write forgets at most this many older ones. */
export const forgottenAtOnceMax = 1_000

export type HoldingUpdate = Holding | { account: Uint8Array; closed: true; slot: number; writeVersion: bigint }

/** What a mint's own account says. */
export type MintAccount = {
  program: TokenProgram
  decimals: number
  supply: bigint
  /** From the token metadata extension; undefined where the mint has none. */
  name: string | undefined
  symbol: string | undefined
  /**
   * What the displayed amount depends on, for interest-bearing and scaled mints; text that `solana/amounts.ts` reads.
   */
  amountRule: string | undefined
}

/** What a mint's Metaplex metadata account says; all undefined where it was looked for and there is none. */
export type MintMetadata = { name: string | undefined; symbol: string | undefined; tokenStandard: number | undefined }

/** The two accounts arrive apart on streams: each part replaces the stored one unless that one has a higher slot. */
export type MintUpdate = {
  mint: Uint8Array
  slot: number
  readAtMs: number
  account?: MintAccount
  metadata?: MintMetadata
}

/** Both parts as one: the extension's name and symbol win over Metaplex's, and `''` stands where there is neither. */
export type Mint = {
  mint: Uint8Array
  program: TokenProgram
  decimals: number
  supply: bigint
  name: string
  symbol: string
  tokenStandard: number | undefined
  amountRule: string | undefined
  /** The lower of the two parts: the slot and time up to which both are known. 0 where metadata was never read. */
  slot: number
  readAtMs: number
}

/** What an owner holds, by columns: one array for each fact of all holdings, because answers have thousands of rows. */
export type HoldingColumns = {
  length: number
  /** 32 bytes each, in their own order. */
  accounts: Uint8Array
  mints: Uint8Array
  /** In the smallest unit, decimal. */
  amounts: string[]
  /** This column and those below are facts of the mint; null until the mint's own account is read. */
  decimals: (number | null)[]
  /** Decimal. */
  supplies: (string | null)[]
  names: string[]
  symbols: string[]
  tokenStandards: (number | null)[]
  amountRules: (string | null)[]
}

/** An owner that was read, and when. */
export type ReadOwner = Pick<SolanaAccount, 'owner' | 'readAtMs'>

/** What begins a walk from the owner that was read last. */
export const afterAllReadings: ReadOwner = { owner: new Uint8Array(), readAtMs: Number.MAX_SAFE_INTEGER }

export type SolanaUpdates = {
  mints?: readonly MintUpdate[]
  /**
   * Of single token accounts; each only if its (slot, write version) is not older than what is stored, so of two
   * updates in one slot without write versions the later call wins. A close is remembered with its version: an older
   * reading cannot bring the account back; the owner's next newer reading may forget it.
   */
  holdings?: readonly HoldingUpdate[]
  /**
   * Replaces everything known of an owner by one consistent reading: holdings of this owner that the reading lacks are
   * removed, unless what is stored of a token account (held or closed) has a higher slot. A reading older than the
   * stored one changes nothing.
   */
  reading?: OwnerReading
  /** Of owners themselves, each once: their holdings stay. */
  owners?: readonly SolanaAccount[]
}

export type OwnerReading = { account: SolanaAccount; holdings: readonly Holding[] }

export interface SolanaStore {
  /** Owners that were read, the last reading first, strictly before the given one. */
  solanaOwners(network: SolanaNetwork, page: { limit: number; before?: ReadOwner | undefined }): Promise<ReadOwner[]>
  /** One consistent look at an owner; undefined where the owner was never read. */
  portfolioOf(
    network: SolanaNetwork,
    owner: Uint8Array,
  ): Promise<{ account: SolanaAccount; holdings: HoldingColumns } | undefined>
  /** Those of the given mints whose own account was read. */
  mintsOf(network: SolanaNetwork, mints: readonly Uint8Array[]): Promise<Mint[]>
  /** Applies each update only if what is stored is not newer. */
  updateAccounts(network: SolanaNetwork, updates: SolanaUpdates): Promise<void>
  /** Forgets owners that were last read earlier, with what they hold, at most this many. Returns how many. */
  forgetOwners(network: SolanaNetwork, readBeforeMs: number, max: number): Promise<number>
}

export type StagedRows = { holdings: readonly HoldingUpdate[]; mints: readonly MintUpdate[] }

export interface SolanaStaging {
  /** The checkpoint of the last commit; undefined where nothing is staged. */
  checkpoint(): Promise<string | undefined>
  /** Rows and checkpoint, all or nothing. */
  commit(rows: StagedRows, checkpoint: string): Promise<void>
  /**
   * Merges every staged row; of one account the newest counts, staged or stored. Where the rows are the `whole` state
   * at `slot`, stored rows of that slot or before that are not among them are removed. Afterwards nothing is staged.
   */
  merge(state: { slot: number; whole: boolean }): Promise<void>
  /** Forgets what is staged. */
  discard(): Promise<void>
  close(): Promise<void>
}
