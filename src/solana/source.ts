// Reads what a node knows of one owner, as of one slot or later, or fails as a whole; on demand, once for all who ask.
// Also the chain's clock, and the differences between what is stored and what is read.
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import { encodeKey, keyBytes } from '../base58.ts'
import { AlmanacError } from '../errors.ts'
import { textOfKey } from '../hex.ts'
import type { TokenProgram } from '../model.ts'
import { Flights, oneFlight } from '../once.ts'
import type { Holding, HoldingColumns, OwnerReading, SolanaAccount, SolanaStore } from '../store/solana-store.ts'
import { clockSysvar, decodeClock, decodeTokenAccount, tokenPrograms } from './decode.ts'
import { ensureMints } from './mints.ts'
import { type AccountInfo, type KeyedAccount, readAccount } from './read-accounts.ts'
import type { At, SolanaRpc } from './rpc.ts'

const partNames = {
  account: 'account itself',
  token: 'Token accounts',
  'token-2022': 'Token-2022 accounts',
  metadata: 'metadata',
} as const
type Part = keyof typeof partNames

/**
 * Asks for the three parts at once, then again for those older than the newest, with that slot as the least.
 * `notBefore` keeps answers from falling behind what was already shown.
 */
async function readOwner(
  { rpc, nowMs }: { rpc: SolanaRpc; nowMs: () => number },
  owner: Uint8Array,
  notBefore?: number,
): Promise<OwnerReading> {
  const address = encodeKey(owner)
  const readSelf = (least?: number) =>
    part(rpc, 'account', address, () => rpc.accounts([address, clockSysvar], least).then(at => checkClock(rpc, at)))
  const readTokens = (program: TokenProgram, least?: number) =>
    part(rpc, program, address, () =>
      rpc.tokenAccounts(address, program, least).then(at => ({
        slot: at.slot,
        value: holdingsOf({ rpc, owner, program }, at),
      })),
    )

  const readAtMs = nowMs()
  const first = await Promise.all([
    readSelf(notBefore),
    ...tokenPrograms.map(program => readTokens(program, notBefore)),
  ])
  const [account, ...tokens] = first as [At<OwnAccount>, ...At<Holding[]>[]]
  const newest = Math.max(account.slot, ...tokens.map(({ slot }) => slot))
  const [freshAccount, ...freshTokens] = (await Promise.all([
    account.slot < newest ? readSelf(newest) : account,
    ...tokens.map((at, index) => (at.slot < newest ? readTokens(tokenPrograms[index]!, newest) : at)),
  ])) as [At<OwnAccount>, ...At<Holding[]>[]]

  const slot = Math.min(freshAccount.slot, ...freshTokens.map(at => at.slot))
  return {
    account: { owner, lamports: freshAccount.value.lamports, slot, chainTime: freshAccount.value.chainTime, readAtMs },
    holdings: freshTokens.flatMap(at => at.value),
  }
}

type BalanceOptions = { rpc: SolanaRpc; owner: Uint8Array; readAtMs: number }

/** The owner itself, without its tokens. */
export async function readBalance({ rpc, owner, readAtMs }: BalanceOptions): Promise<SolanaAccount> {
  const address = encodeKey(owner)
  const { slot, value } = await part(rpc, 'account', address, () =>
    rpc.accounts([address, clockSysvar]).then(at => checkClock(rpc, at)),
  )
  return { owner, lamports: value.lamports, slot, chainTime: value.chainTime, readAtMs }
}

type OwnAccount = { lamports: bigint; chainTime: number }

function checkClock(rpc: SolanaRpc, { slot, value: [own, clock] }: At<(AccountInfo | undefined)[]>): At<OwnAccount> {
  const chainTime = clock === undefined ? undefined : decodeClock(clock.data)?.unixTimestamp
  if (chainTime === undefined)
    throw new AlmanacError('upstream_invalid', `A solana ${rpc.network} endpoint answered without the chain's clock`)
  return { slot, value: { lamports: own?.lamports ?? 0n, chainTime } }
}

/** A token account of another owner, or one that does not decode, makes the whole part fail. */
function holdingsOf(
  { rpc, owner, program }: { rpc: SolanaRpc; owner: Uint8Array; program: TokenProgram },
  { slot, value }: At<KeyedAccount[]>,
): Holding[] {
  return value.map(({ key, data }) => {
    const decoded = decodeTokenAccount(data)
    if (decoded === undefined || Buffer.compare(decoded.owner, owner) !== 0)
      throw new AlmanacError(
        'upstream_invalid',
        `A solana ${rpc.network} endpoint listed ${encodeKey(key)}, which is not a token account of this owner`,
      )
    return { account: key, owner, mint: decoded.mint, amount: decoded.amount, program, slot, writeVersion: 0n }
  })
}

/** Says which part of an answer is missing; the cause says why, in words that clients do not get. */
export async function part<T>(rpc: SolanaRpc, name: Part, owner: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    const { code, hint, retryAfterMs } = error instanceof AlmanacError ? error : ({} as Partial<AlmanacError>)
    if (code === 'interrupted') throw error
    throw new AlmanacError(
      'upstream_failed',
      `The ${partNames[name]} of ${owner} could not be read from solana ${rpc.network}.`,
      {
        cause: error,
        retryable: true,
        details: { network: rpc.network, part: name },
        ...(hint === undefined ? {} : { hint }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
    )
  }
}

const readingsAtOnceMax = 256
const rememberedMax = 50_000

/** The slot and the chain's clock of an answer, and when they were known. */
export type Freshness = { slot: number; chainTime: number; readAtMs: number }

export type OnDemandOptions = {
  rpc: SolanaRpc
  store: SolanaStore
  maxAgeMs: number
  nowMs?: () => number
  /** Called with each reading once it is stored. */
  onReading?: (reading: OwnerReading) => void
}

/**
 * Reads an owner when what is stored is too old, once for all who ask at the same time. It remembers only the
 * freshness.
 */
export class OnDemand {
  readonly #options: Required<Pick<OnDemandOptions, 'nowMs'>> & OnDemandOptions
  readonly #readings = new Flights<string, OwnerReading>({ max: readingsAtOnceMax, what: 'Solana accounts' })
  readonly #fresh = new LRUCache<string, Freshness>(atMost(rememberedMax))

  constructor(options: OnDemandOptions) {
    this.#options = { nowMs: Date.now, ...options }
  }

  /** Resolves once the stored reading of the owner is at most `maxAgeMs` old. */
  async freshen(owner: Uint8Array): Promise<Freshness> {
    const { nowMs, maxAgeMs } = this.#options
    const known = this.#fresh.get(textOfKey(owner))
    // A reading from the future was stored before the clock went back.
    if (known !== undefined && Math.abs(nowMs() - known.readAtMs) <= maxAgeMs) return known
    return (await this.read(owner)).account
  }

  /** Reads the owner, or joins the reading that is under way; with `joins: false`, reads it again after that one. */
  read(owner: Uint8Array, { joins = true } = {}): Promise<OwnerReading> {
    const key = textOfKey(owner)
    const read = () => this.#readings.join(key, () => this.#readAndStore(owner, key))
    return joins ? read() : (this.#readings.of(key)?.then(read, read) ?? read())
  }

  /** What is stored may be wrong, however young. Its slot remains the least for the next reading. */
  forget(owner: Uint8Array): void {
    const known = this.#fresh.get(textOfKey(owner))
    if (known !== undefined) this.#fresh.set(textOfKey(owner), { ...known, readAtMs: Number.NEGATIVE_INFINITY })
  }

  async #readAndStore(owner: Uint8Array, key: string): Promise<OwnerReading> {
    const { rpc, store, nowMs, onReading } = this.#options
    const reading = await readOwner({ rpc, nowMs }, owner, this.#fresh.get(key)?.slot)
    await ensureMints({ rpc, store, nowMs }, heldMints(reading), reading.account.slot)
    await store.updateAccounts(rpc.network, { reading })
    const { slot, chainTime, readAtMs } = reading.account
    this.#fresh.set(key, { slot, chainTime, readAtMs })
    onReading?.(reading)
    return reading
  }
}

/** Empty token accounts are not shown. */
function heldMints({ holdings }: OwnerReading): Uint8Array[] {
  const mints = new Map<string, Uint8Array>()
  for (const { mint, amount } of holdings) if (amount > 0n) mints.set(textOfKey(mint), mint)
  return [...mints.values()]
}

/** The clock counts whole seconds: an older reading may be wrong. */
const clockMaxAgeMs = 1_000

export type ClockReading = { slot: number; chainTime: number; atMs: number }

/** The chain's own clock: pushed by nodes that notify of it, read from those that do not. */
export class ChainClock {
  readonly #rpc: SolanaRpc
  #last: ClockReading = { slot: 0, chainTime: 0, atMs: 0 }
  #pushedSlot = 0
  readonly #reading = oneFlight(() => this.#read())

  constructor(rpc: SolanaRpc) {
    this.#rpc = rpc
  }

  get last(): ClockReading {
    return this.#last
  }

  /** The slot of the last clock that was pushed: everything of earlier slots was pushed too. */
  get pushedSlot(): number {
    return this.#pushedSlot
  }

  push(entry: unknown, slot: number): void {
    const clock = decodeClock(readAccount(entry)?.data ?? new Uint8Array())
    if (clock === undefined || slot < this.#pushedSlot) return
    this.#pushedSlot = slot
    this.#last = { slot, chainTime: clock.unixTimestamp, atMs: Date.now() }
  }

  /** The socket is new: forgets what was pushed. */
  reset(): void {
    this.#pushedSlot = 0
  }

  /** At most a second old. */
  async now(): Promise<ClockReading> {
    if (Math.abs(Date.now() - this.#last.atMs) <= clockMaxAgeMs) return this.#last
    return await this.#reading()
  }

  async #read(): Promise<ClockReading> {
    const atMs = Date.now()
    const { slot, value } = await this.#rpc.accounts([clockSysvar])
    const clock = value[0] === undefined ? undefined : decodeClock(value[0].data)
    if (clock !== undefined) this.#last = { slot, chainTime: clock.unixTimestamp, atMs }
    return this.#last
  }
}

/** How many token accounts are stored with another amount, are missing, or are stored though they are gone. */
export function differencesOf(stored: HoldingColumns | undefined, reading: OwnerReading): number {
  const read = new Map(reading.holdings.map(({ account, amount }) => [encodeKey(account), amount]))
  const held = heldAmounts(stored)
  const wrong = held.filter(([account, amount]) => read.get(account) !== amount).length
  const missing = [...read].filter(([, amount]) => amount > 0n).length - (held.length - wrong)
  return Math.max(wrong, missing)
}

function heldAmounts(holdings: HoldingColumns | undefined): [account: string, amount: bigint][] {
  if (holdings === undefined) return []
  const rows = holdings.amounts.map((amount, row): [string, bigint] => [
    encodeKey(holdings.accounts.subarray(row * keyBytes, (row + 1) * keyBytes)),
    BigInt(amount),
  ])
  return rows.filter(([, amount]) => amount > 0n)
}
