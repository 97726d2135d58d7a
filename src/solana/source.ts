// Reads everything that a node knows of one owner, from one slot or later, or fails as a whole. Writes nothing.

import { LRUCache } from 'lru-cache'
import { encodeKey } from '../base58.ts'
import { AlmanacError, messageOf } from '../errors.ts'
import type { TokenProgram } from '../model.ts'
import type { Holding, SolanaAccount, SolanaStore } from '../store/solana-store.ts'
import { clockSysvar, decodeClock, decodeTokenAccount, tokenPrograms } from './decode.ts'
import { ensureMints } from './mints.ts'
import type { AccountInfo, At, KeyedAccount, SolanaRpc } from './rpc.ts'

export type OwnerReading = { account: SolanaAccount; holdings: Holding[] }

/** Names of the parts in errors, as an operator would call them. */
const partNames = { account: 'account itself', token: 'Token accounts', 'token-2022': 'Token-2022 accounts' } as const
type Part = keyof typeof partNames

/**
 * The three parts are asked for at once; those that came from an older slot than the newest are asked for again with
 * that slot as the least. `notBefore` keeps an answer from going back to a node that is behind what was already shown.
 */
export async function readOwner(
  { rpc, nowMs }: { rpc: SolanaRpc; nowMs: () => number },
  owner: Uint8Array,
  notBefore?: number,
): Promise<OwnerReading> {
  const address = encodeKey(owner)
  const readAccount = (least?: number) =>
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
    readAccount(notBefore),
    ...tokenPrograms.map(program => readTokens(program, notBefore)),
  ])
  const [account, ...tokens] = first as [At<OwnAccount>, ...At<Holding[]>[]]
  const newest = Math.max(account.slot, ...tokens.map(({ slot }) => slot))
  const [freshAccount, ...freshTokens] = (await Promise.all([
    account.slot < newest ? readAccount(newest) : account,
    ...tokens.map((at, index) => (at.slot < newest ? readTokens(tokenPrograms[index]!, newest) : at)),
  ])) as [At<OwnAccount>, ...At<Holding[]>[]]

  const slot = Math.min(freshAccount.slot, ...freshTokens.map(at => at.slot))
  return {
    account: { owner, lamports: freshAccount.value.lamports, slot, chainTime: freshAccount.value.chainTime, readAtMs },
    holdings: freshTokens.flatMap(at => at.value),
  }
}

/** The owner itself, without its tokens. */
export async function readBalance(options: {
  rpc: SolanaRpc
  owner: Uint8Array
  readAtMs: number
}): Promise<SolanaAccount> {
  const { rpc, owner, readAtMs } = options
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

/** A token account of somebody else, or one that does not decode, would be a wrong answer: the whole part fails. */
function holdingsOf(
  { rpc, owner, program }: { rpc: SolanaRpc; owner: Uint8Array; program: TokenProgram },
  { slot, value }: At<KeyedAccount[]>,
): Holding[] {
  return value.map(({ key, data }) => {
    const decoded = decodeTokenAccount(data)
    if (decoded === undefined || Buffer.compare(decoded.owner, owner) !== 0)
      throw new AlmanacError(
        'upstream_invalid',
        `A solana ${rpc.network} endpoint listed ${encodeKey(key)}, which is no token account of this owner`,
      )
    return { account: key, owner, mint: decoded.mint, amount: decoded.amount, program, slot, writeVersion: 0n }
  })
}

/** Says which part of the portfolio is missing, with the endpoint's own fault behind it. */
async function part<T>(rpc: SolanaRpc, name: Part, owner: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    const { code, hint, retryAfterMs } = error instanceof AlmanacError ? error : ({} as Partial<AlmanacError>)
    if (code === 'interrupted') throw error
    throw new AlmanacError(
      'upstream_failed',
      `The ${partNames[name]} of ${owner} could not be read from solana ${rpc.network}: ${reason(error)}.`,
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

function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? ` (${messageOf(error.cause)})` : ''
  return messageOf(error).replace(/\.$/, '') + cause
}

// Reads an owner when it is asked for and what is stored is too old: once for all who ask at the same time. The store
// keeps the reading; here is only remembered how fresh it is.

const readingsAtOnceMax = 256
const rememberedMax = 50_000

/** The slot and the chain's clock that an answer stands for, and when that was known. */
export type Freshness = { slot: number; chainTime: number; readAtMs: number }

export type OnDemandOptions = {
  rpc: SolanaRpc
  store: SolanaStore
  maxAgeMs: number
  nowMs?: () => number
  /** Called with every reading once it is stored. */
  onReading?: (reading: OwnerReading) => void
}

export class OnDemand {
  readonly #options: Required<Pick<OnDemandOptions, 'nowMs'>> & OnDemandOptions
  readonly #readings = new Map<string, Promise<OwnerReading>>()
  readonly #fresh = new LRUCache<string, Freshness>({ max: rememberedMax })

  constructor(options: OnDemandOptions) {
    this.#options = { nowMs: Date.now, ...options }
  }

  /** Returns when the store's reading of the owner is at most `maxAgeMs` old, or throws what the upstream failed with. */
  async freshen(owner: Uint8Array): Promise<Freshness> {
    const { nowMs, maxAgeMs } = this.#options
    const known = this.#fresh.get(keyOf(owner))
    if (known !== undefined && nowMs() - known.readAtMs <= maxAgeMs) return known
    return (await this.read(owner)).account
  }

  /** Reads the owner now, or takes part in the reading that is under way; `anew`: in one that begins after this call. */
  read(owner: Uint8Array, { anew = false } = {}): Promise<OwnerReading> {
    const key = keyOf(owner)
    const underWay = this.#readings.get(key)
    if (underWay !== undefined) {
      const next = () => this.read(owner)
      return anew ? underWay.then(next, next) : underWay
    }
    if (this.#readings.size >= readingsAtOnceMax) {
      const message = `More than ${readingsAtOnceMax} Solana accounts are being read at once.`
      return Promise.reject(new AlmanacError('overloaded', message, { retryable: true, retryAfterMs: 1_000 }))
    }
    const reading = this.#readAndStore(owner, key).finally(() => this.#readings.delete(key))
    this.#readings.set(key, reading)
    return reading
  }

  /** What is stored of the owner may be wrong, however young it is. Its slot stays as the least for the next reading. */
  forget(owner: Uint8Array): void {
    const known = this.#fresh.get(keyOf(owner))
    if (known !== undefined) this.#fresh.set(keyOf(owner), { ...known, readAtMs: Number.NEGATIVE_INFINITY })
  }

  async #readAndStore(owner: Uint8Array, key: string): Promise<OwnerReading> {
    const { rpc, store, nowMs, onReading } = this.#options
    const reading = await readOwner({ rpc, nowMs }, owner, this.#fresh.get(key)?.slot)
    await ensureMints({ rpc, store, nowMs }, heldMints(reading), reading.account.slot)
    await store.putOwner(rpc.network, reading.account, reading.holdings)
    const { slot, chainTime, readAtMs } = reading.account
    this.#fresh.set(key, { slot, chainTime, readAtMs })
    onReading?.(reading)
    return reading
  }
}

/** The mints of which the owner has something; an empty token account is not shown. */
function heldMints({ holdings }: OwnerReading): Uint8Array[] {
  const mints = new Map<string, Uint8Array>()
  for (const { mint, amount } of holdings) if (amount > 0n) mints.set(keyOf(mint), mint)
  return [...mints.values()]
}

function keyOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}
