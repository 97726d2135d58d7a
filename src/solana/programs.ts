// The programs and sysvars that the portfolio is made of, as raw keys. Constants only.

import { base58 } from '@scure/base'
import type { TokenProgram } from '../model.ts'

export const systemProgram = '11111111111111111111111111111111'
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'
export const metadataProgram = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'

/** In the order in which they are read. */
export const tokenPrograms: readonly TokenProgram[] = ['token', 'token-2022']

export const tokenProgramAddresses: Readonly<Record<TokenProgram, string>> = {
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'token-2022': 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
}

export const programKeys = {
  token: base58.decode(tokenProgramAddresses.token),
  'token-2022': base58.decode(tokenProgramAddresses['token-2022']),
  metadata: base58.decode(metadataProgram),
} as const

export function tokenProgramAt(address: string): TokenProgram | undefined {
  return tokenPrograms.find(program => tokenProgramAddresses[program] === address)
}
