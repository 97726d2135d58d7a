// From an account to the rows that it changes, the same for readings, subscriptions, feeds and snapshots. Pure.
import type { HoldingUpdate, MintUpdate } from '../store/solana-store.ts'
import {
  decodeMetadata,
  decodeTokenAccount,
  type programKeys,
  tokenProgramAddresses,
  tokenProgramAt,
} from './decode.ts'
import { mintAccountOf } from './mints.ts'
import type { AccountInfo } from './read-accounts.ts'

export type StoredAccount = {
  writeVersion: bigint
  key: Uint8Array
  /** 'gone': without lamports, whatever it was before. */
  program: keyof typeof programKeys | 'gone'
  data: Uint8Array
}

export type AccountRows = {
  holdings: HoldingUpdate[]
  mints: MintUpdate[]
  readAtMs: number
  /** For keys that lie in memory that is reused. */
  copy: (key: Uint8Array) => Uint8Array
}

/** False for an account of a token program that is neither a token account nor a mint. */
export function addRows(rows: AccountRows, account: StoredAccount, slot: number): boolean {
  const { holdings, mints, readAtMs, copy } = rows
  const { key, program, data, writeVersion } = account
  if (program === 'gone') {
    holdings.push({ account: copy(key), closed: true, slot, writeVersion })
    return true
  }
  if (program === 'metadata') {
    const decoded = decodeMetadata(data)
    if (decoded === undefined) return true
    const { mint, name, symbol, tokenStandard } = decoded
    mints.push({ mint: copy(mint), slot, readAtMs, metadata: { name, symbol, tokenStandard } })
    return true
  }
  const token = decodeTokenAccount(data)
  if (token !== undefined) {
    const [owner, mint, { amount }] = [copy(token.owner), copy(token.mint), token]
    holdings.push({ account: copy(key), owner, mint, amount, program, slot, writeVersion })
    return true
  }
  const mint = mintAccountOf(key, { lamports: 1n, program: tokenProgramAddresses[program], data })
  if (mint !== undefined) mints.push({ mint: copy(key), slot, readAtMs, account: mint })
  return mint !== undefined
}

/** An account that is gone, emptied or taken by another program counts as closed. */
export function holdingUpdateOf(account: Uint8Array, info: AccountInfo | undefined, slot: number): HoldingUpdate {
  const program = info === undefined || info.lamports === 0n ? undefined : tokenProgramAt(info.program)
  const decoded = info === undefined || program === undefined ? undefined : decodeTokenAccount(info.data)
  if (decoded === undefined || program === undefined) return { account, closed: true, slot, writeVersion: 0n }
  return { account, owner: decoded.owner, mint: decoded.mint, amount: decoded.amount, program, slot, writeVersion: 0n }
}
