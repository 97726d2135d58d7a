// From an account that a feed or a subscription reports to the rows that it changes. Pure; the same rows as a reading or a snapshot gives.
import type { HoldingUpdate, MintUpdate } from '../store/solana-store.ts'
import { decodeMetadata, decodeTokenAccount } from './decode.ts'
import { mintAccountOf } from './mints.ts'
import { programKeys, tokenProgramAddresses, tokenProgramAt } from './programs.ts'
import type { AccountInfo } from './rpc.ts'

export type FedAccount = {
  key: Uint8Array
  lamports: bigint
  program: Uint8Array
  data: Uint8Array
  slot: number
  writeVersion: bigint
}

export type FedRow = { kind: 'holding'; holding: HoldingUpdate } | { kind: 'mint'; mint: MintUpdate }

/** Undefined for what no portfolio shows. Whatever has no lamports, or left the token programs, is a closed account. */
export function fedRowOf(account: FedAccount, readAtMs: number): FedRow | undefined {
  const { key, lamports, program, data, slot, writeVersion } = account
  const closed: FedRow = { kind: 'holding', holding: { account: key, closed: true, slot, writeVersion } }
  if (lamports === 0n) return closed
  if (Buffer.compare(program, programKeys.metadata) === 0) {
    const decoded = decodeMetadata(data)
    if (decoded === undefined) return undefined
    const { mint, name, symbol, tokenStandard } = decoded
    return { kind: 'mint', mint: { mint, slot, readAtMs, metadata: { name, symbol, tokenStandard } } }
  }
  const tokenProgram = (['token', 'token-2022'] as const).find(name => Buffer.compare(program, programKeys[name]) === 0)
  if (tokenProgram === undefined) return closed
  const token = decodeTokenAccount(data)
  if (token !== undefined) {
    const { mint, owner, amount } = token
    return {
      kind: 'holding',
      holding: { account: key, owner, mint, amount, program: tokenProgram, slot, writeVersion },
    }
  }
  const mint = mintAccountOf(key, { lamports, program: tokenProgramAddresses[tokenProgram], data })
  return mint === undefined ? closed : { kind: 'mint', mint: { mint: key, slot, readAtMs, account: mint } }
}

/** Whatever is no token account any more is a closed one: gone, emptied, or taken by another program. */
export function holdingUpdateOf(account: Uint8Array, info: AccountInfo | undefined, slot: number): HoldingUpdate {
  const program = info === undefined || info.lamports === 0n ? undefined : tokenProgramAt(info.program)
  const decoded = info === undefined || program === undefined ? undefined : decodeTokenAccount(info.data)
  if (decoded === undefined || program === undefined) return { account, closed: true, slot, writeVersion: 0n }
  return { account, owner: decoded.owner, mint: decoded.mint, amount: decoded.amount, program, slot, writeVersion: 0n }
}
