// Between the server's text and the model's values.
import { type SolanaNetwork, solanaNetworks } from '../../model.ts'
import { bytesOfHex } from '../bytes.ts'

type Stored = string | null | undefined

/** `\x…`, as the server writes bytes. */
export function bytesOf(stored: Stored): Buffer {
  return bytesOfHex(stored as string)
}

export function hexTextOf<T extends string>(stored: Stored): T {
  return `0x${(stored as string).slice(2)}` as T
}

/** Text that comes from chains is kept as bytes, because PostgreSQL's text cannot hold every character. */
export function textOf(stored: Stored): string | undefined {
  return stored === null || stored === undefined ? undefined : bytesOf(stored).toString('utf8')
}

export function optionalNumber(stored: Stored): number | undefined {
  return stored === null || stored === undefined ? undefined : Number(stored)
}

export function networkNumber(network: SolanaNetwork): number {
  return solanaNetworks.indexOf(network)
}
