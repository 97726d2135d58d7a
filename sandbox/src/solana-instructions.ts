// Builds the instructions of the system and token programs that the sandbox uses. It sends nothing.
import { base58 } from '@scure/base'
import {
  associatedTokenProgram,
  deriveAddress,
  systemProgram,
  type TokenProgram,
  tokenProgramAddresses,
} from './solana-addresses.ts'
import type { Instruction } from './solana-wire.ts'

/** Enough for every account created here. */
const rentLamports = 10_000_000n

export function transferSol(from: string, to: string, lamports: bigint): Instruction {
  return {
    program: systemProgram,
    accounts: [
      { key: from, signer: true, writable: true },
      { key: to, writable: true },
    ],
    data: packed(u32(2), u64(lamports)),
  }
}

export type NewMint = { payer: string; mint: string; decimals: number; program: TokenProgram; rule?: MintRule }

/** How a Token-2022 mint changes the amounts that it shows. */
export type MintRule = { kind: 'interest'; basisPoints: number } | { kind: 'scaled'; multiplier: number }

/** Creates and initialises a mint; the payer has every authority. */
export function createMint({ payer, mint, decimals, program, rule }: NewMint): Instruction[] {
  const owner = tokenProgramAddresses[program]
  const authority = base58.decode(payer)
  const space = rule === undefined ? 82n : 170n + (rule.kind === 'interest' ? 52n : 56n)
  const onMint = (data: Uint8Array): Instruction => ({
    program: owner,
    accounts: [{ key: mint, writable: true }],
    data,
  })
  return [
    {
      program: systemProgram,
      accounts: [
        { key: payer, signer: true, writable: true },
        { key: mint, signer: true, writable: true },
      ],
      data: packed(u32(0), u64(rentLamports), u64(space), base58.decode(owner)),
    },
    ...(rule === undefined ? [] : [onMint(ruleData(rule, authority))]),
    // InitializeMint2, without a freeze authority.
    onMint(packed(Uint8Array.of(20, decimals), authority, Uint8Array.of(0))),
  ]
}

function ruleData(rule: MintRule, authority: Uint8Array): Uint8Array {
  if (rule.kind === 'interest') {
    const rate = new Uint8Array(2)
    new DataView(rate.buffer).setInt16(0, rule.basisPoints, true)
    return packed(Uint8Array.of(33, 0), authority, rate)
  }
  const multiplier = new Uint8Array(8)
  new DataView(multiplier.buffer).setFloat64(0, rule.multiplier, true)
  return packed(Uint8Array.of(43, 0), authority, multiplier)
}

export type TokenPlace = { owner: string; mint: string; program: TokenProgram }

export function associatedAccount({ owner, mint, program }: TokenPlace): string {
  const seeds = [owner, tokenProgramAddresses[program], mint].map(key => base58.decode(key))
  return deriveAddress(seeds, associatedTokenProgram)
}

/** Does nothing if the account exists. */
export function createAssociated(payer: string, place: TokenPlace): Instruction {
  return {
    program: associatedTokenProgram,
    accounts: [
      { key: payer, signer: true, writable: true },
      { key: associatedAccount(place), writable: true },
      { key: place.owner },
      { key: place.mint },
      { key: systemProgram },
      { key: tokenProgramAddresses[place.program] },
    ],
    data: Uint8Array.of(1),
  }
}

export function mintTo(authority: string, place: TokenPlace, amount: bigint): Instruction {
  return {
    program: tokenProgramAddresses[place.program],
    accounts: [
      { key: place.mint, writable: true },
      { key: associatedAccount(place), writable: true },
      { key: authority, signer: true },
    ],
    data: packed(Uint8Array.of(7), u64(amount)),
  }
}

/** TransferChecked, which the extensions of Token-2022 require. */
export function transferToken(
  { owner, mint, program }: TokenPlace,
  { to, amount, decimals }: { to: string; amount: bigint; decimals: number },
): Instruction {
  return {
    program: tokenProgramAddresses[program],
    accounts: [
      { key: associatedAccount({ owner, mint, program }), writable: true },
      { key: mint },
      { key: associatedAccount({ owner: to, mint, program }), writable: true },
      { key: owner, signer: true },
    ],
    data: packed(Uint8Array.of(12), u64(amount), Uint8Array.of(decimals)),
  }
}

function packed(...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
