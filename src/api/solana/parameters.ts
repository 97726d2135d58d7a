// The parameters that operations on Solana share.
import { z } from 'zod'
import { parsePubkey } from '../../base58.ts'
import { type SolanaNetwork, solanaNetworks } from '../../model.ts'
import { flagParameter, type Parameter } from '../params.ts'

export const network: Parameter<SolanaNetwork> = {
  name: 'network',
  read: text => solanaNetworks.find(network => network === text),
  accepts: solanaNetworks.join(' or '),
  schema: z.enum(solanaNetworks as ['mainnet', 'devnet']),
  description: 'Solana network.',
  example: 'mainnet',
}

export const exampleAccount = 'EJpLyTeE8XHG9CeREeHd6pr6hNhaRnTRJx4Z5DPhEJJ6'

export function pubkeyParameter(description: string, example: string): Parameter<Uint8Array> {
  return {
    name: 'address',
    read: parsePubkey,
    accepts: 'a public key of 32 bytes in base58',
    schema: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
    description,
    example,
  }
}

export const includeFungibleAssets = flagParameter(
  'includeFungibleAssets',
  'Lists fungible assets too: mints without decimals whose metadata has token standard 1.',
)

/** One that the hosted service has: it is checked and changes nothing. */
export function flagWithoutEffect(name: string, reason: string): Parameter<boolean> {
  return flagParameter(name, `Accepted for compatibility; changes nothing. ${reason}.`)
}
