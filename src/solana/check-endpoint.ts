// Finds out what one Solana endpoint can do. It stores nothing.
import type { SolanaNetwork } from '../model.ts'
import { clockSysvar, systemProgram } from './decode.ts'
import { genesisHashes } from './network.ts'
import { SolanaRpc } from './rpc.ts'

export type SolanaFindings = {
  /** Safe to show. */
  endpoint: string
  slot: number
  /** Undefined for a ledger of its own, as local nodes have. */
  network: SolanaNetwork | undefined
}

/** Fails where the endpoint cannot be used, also where it does not list the token accounts of an owner. */
export async function checkSolanaEndpoint(network: SolanaNetwork, url: string): Promise<SolanaFindings> {
  const rpc = new SolanaRpc({ network, urls: [url] })
  try {
    const genesis = await rpc.genesisHash()
    const { slot } = await rpc.accounts([clockSysvar])
    await rpc.tokenAccounts(systemProgram, 'token')
    const known = (Object.keys(genesisHashes) as SolanaNetwork[]).find(name => genesisHashes[name] === genesis)
    return { endpoint: rpc.status()[0]!.endpoint, slot, network: known }
  } finally {
    await rpc.close()
  }
}
