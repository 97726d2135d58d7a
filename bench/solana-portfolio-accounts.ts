// The accounts of the portfolio benchmark, the same in every process: an owner with thousands of tokens.
import { createHash } from 'node:crypto'
import { encodeKey } from '../src/base58.ts'
import { metadataAddress } from '../src/solana/pda.ts'
import type { Holding } from '../src/store/solana-store.ts'

const count = Number(process.env.COUNT ?? 2_000)
const keyOf = (name: string) => new Uint8Array(createHash('sha256').update(name).digest())

export const owner = keyOf('owner')
export const address = encodeKey(owner)
export const mints = Array.from({ length: count }, (_, index) => keyOf(`mint ${index}`))
export const holdings = mints.map(
  (mint, index): Holding => ({
    account: keyOf(`account ${index}`),
    owner,
    mint,
    amount: BigInt(index + 1) * 1_234_567n,
    program: 'token',
    slot: 10,
    writeVersion: 0n,
  }),
)

/** Mints and their metadata accounts, by the hundred that a node takes. */
const keys = mints.flatMap(mint => [encodeKey(mint), encodeKey(metadataAddress(mint))])
export const pagesOfKeys = Array.from({ length: Math.ceil(keys.length / 100) }, (_, page) =>
  keys.slice(page * 100, (page + 1) * 100),
)
