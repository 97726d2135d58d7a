// Finds out what one Solana endpoint can do, with a handful of questions. It stores nothing.
import type { SolanaNetwork } from '../model.ts'
import { clockSysvar, systemProgram } from './decode.ts'
import { SolanaEndpoint } from './endpoint.ts'
import { genesisHashes } from './network.ts'
import { SolanaRpc } from './rpc.ts'

export type SolanaFindings = {
  /** Fit to be shown. */
  endpoint: string
  slot: number
  /** Whose ledger it is; undefined for one of its own, as local nodes have. */
  network: SolanaNetwork | undefined
}

/** Fails as the endpoint fails where it cannot be used: also where it does not list the token accounts of an owner. */
export async function checkSolanaEndpoint(network: SolanaNetwork, url: string): Promise<SolanaFindings> {
  const endpoint = new SolanaEndpoint({ network, url })
  const rpc = new SolanaRpc({ network, endpoints: [endpoint] })
  try {
    const genesis = await rpc.genesisHash()
    const { slot } = await rpc.accounts([clockSysvar])
    await rpc.tokenAccounts(systemProgram, 'token')
    const known = (Object.keys(genesisHashes) as SolanaNetwork[]).find(name => genesisHashes[name] === genesis)
    return { endpoint: endpoint.name, slot, network: known }
  } finally {
    await rpc.close()
  }
}
