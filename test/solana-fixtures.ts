// The recorded mainnet accounts, where the checkout has them beside it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'

const folder = join(import.meta.dirname, '../../shared/fixtures/solana')

export const hasSolanaFixtures = existsSync(folder)

export type RecordedAccount = { key: Uint8Array; lamports: bigint; program: string; data: Uint8Array }

export function readSolanaFixture(name: string): RecordedAccount {
  const recorded = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
  return {
    key: base58.decode(recorded.pubkey),
    lamports: BigInt(recorded.lamports),
    program: recorded.owner,
    data: new Uint8Array(Buffer.from(recorded.data, 'base64')),
  }
}
