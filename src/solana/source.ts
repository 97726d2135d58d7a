// Reads everything that a node knows of one owner, from one slot or later, or fails as a whole. Writes nothing.

import { encodeKey } from '../base58.ts'
import { AlmanacError, messageOf } from '../errors.ts'
import type { TokenProgram } from '../model.ts'
import type { Holding, SolanaAccount } from '../store/solana-store.ts'
import { decodeClock, decodeTokenAccount } from './decode.ts'
import { clockSysvar, tokenPrograms } from './programs.ts'
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
