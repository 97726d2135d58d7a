// Parameters that several EVM operations have, beside those of `params.ts`. No operation here.
import { z } from 'zod'
import { type Address, type Hash, parseAddress, parseHash } from '../../model.ts'
import { directions, filterContractsMax } from '../../query/transfer-subject.ts'
import {
  addressParameter,
  choiceParameter,
  flagParameter,
  type Parameter,
  type QueryText,
  unacceptable,
} from '../params.ts'

const idMax = 2n ** 256n - 1n
const isDecimalId = /^(?:0|[1-9]\d{0,77})$/
const isHexId = /^0x(?:0|[1-9a-f][\da-f]{0,63})$/i

/** One spelling for each number: paths that differ would differ in caches and cursors. */
export function parseTokenId(text: string): bigint | undefined {
  if (!isDecimalId.test(text) && !isHexId.test(text)) return undefined
  const id = BigInt(text)
  return id <= idMax ? id : undefined
}

/** Of transfers and of what is owned: the example is in the examples of their answers. */
export const walletParameter = addressParameter('Address of the wallet.', '0x8ae57a027c63fca8070d1bf38622321de8004c67')

export const tokenIdParameter: Parameter<bigint> = {
  name: 'token_id',
  read: parseTokenId,
  accepts: 'a number from 0 to 2^256-1, decimal or as 0x and hex digits, without leading zeros',
  schema: z.string().regex(/^(\d+|0x[0-9a-fA-F]+)$/),
  description: 'Token id, decimal or as `0x` and hex digits, without leading zeros.',
  example: '6955',
}

export const blockParameter: Parameter<number | Hash> = {
  name: 'block_number_or_hash',
  read: text => (/^\d{1,15}$/.test(text) ? Number(text) : parseHash(text)),
  accepts: 'a block number, or 0x and 64 hex digits of a block hash',
  schema: z.string(),
  description: 'Block number or block hash.',
  example: '16220243',
}

export const directionParameter = choiceParameter('direction', directions, {
  default: 'both',
  description: 'Whether the wallet gave (`from`), received (`to`) or either.',
})

/** A list of contracts that rows are restricted to. */
export function contractsParameter(name: string, description: string) {
  return {
    name,
    read: parseAddress,
    accepts: '0x and 40 hex digits, in any case',
    refusal: `${name} has an address that is not a valid hex address`,
    schema: z.string(),
    description: `${description} At most ${filterContractsMax}, written as \`${name}[]=…&${name}[]=…\`, \`${name}[0]=…\`, \`${name}=…&${name}=…\` or separated by commas.`,
    example: ['0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'],
  } satisfies Parameter<Address>
}

/** Empty where none is given: all of them. */
export function readContracts(query: QueryText, parameter: Parameter<Address>): Address[] {
  const contracts = query.list(parameter) ?? []
  if (contracts.length > filterContractsMax)
    throw unacceptable(parameter.name, `at most ${filterContractsMax} addresses, not ${contracts.length}`)
  return contracts
}

export const includePrices = flagParameter('include_prices', 'Accepted; prices are not indexed, so it adds nothing.')
