// Contract metadata over HTTP, of one contract and of several. The rules are in `query/contract-metadata.ts`.
import { z } from 'zod'
import type { ChainTable } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Admission } from '../../keys/gatekeeper.ts'
import { type Address, parseAddress } from '../../model.ts'
import { type ContractMetadata, contractMetadata as metadataOf } from '../../query/contract-metadata.ts'
import { readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import {
  chainErrors,
  indexHeaders,
  inPath,
  inQuery,
  jsonSuccess,
  onDemandSentence,
  reference,
} from '../openapi-parts.ts'
import { freshenWaitMsOf, perform } from '../operation.ts'
import {
  addressParameter,
  chainParameter,
  type Dialect,
  dialectOf,
  exampleContract,
  QueryText,
  readParameter,
  unacceptable,
} from '../params.ts'
import type { ApiRequest } from '../request.ts'
import type { RouteParts } from '../responder.ts'

const addressesMax = 25
const bodyBytesMax = 8_192

function metadataParameters(table: ChainTable) {
  return {
    address: addressParameter('Address of the NFT contract.', exampleContract),
    chain: chainParameter('chain', table, 'Chain, by name or hex id. Defaults to `eth`.'),
  }
}

export const contractMetadata: RouteParts = {
  answer: context => {
    const { address } = metadataParameters(context.chains)
    return request => {
      const dialect = dialectOf(request, context.settings.dialect)
      const work = async (admission: Admission) => {
        const contract = readParameter(address, request.pathParameter('address'))
        const answer = answerOf(context, request, admission)
        const { metadata, indexComplete } = await answer(contract)
        if (metadata === undefined) throw unknownContract()
        const keep = indexComplete || context.freshen?.contract === undefined
        return { ready: ready(shown(metadata, dialect), { dialect, indexComplete }), keep }
      }
      return perform(context, request, { scope: 'nft-transfers', about: 'indexed', cacheKey: dialect, work })
    }
  },
  document: ({ chains }, version) => {
    const { address, chain } = metadataParameters(chains)
    return {
      id: version === 'v2' ? 'getNFTContractMetadata' : 'getNFTContractMetadataV22',
      tag: 'EVM',
      summary: 'Collection metadata',
      description:
        'The name, symbol and token standard of one NFT contract, and whether it is verified or possible spam. Use it for the heading of a collection. ' +
        `${onDemandSentence} ` +
        '404: no transfer of it is known, and it does not declare ERC-721 or ERC-1155.',
      parameters: [inPath(address), inQuery(chain)],
      answers: { 200: jsonSuccess('ContractMetadata', 'What is known of the contract.', indexHeaders) },
      errors: [...chainErrors, 'not_found'],
      failures: [unknownContract()],
    }
  },
}

export const contractMetadataList: RouteParts = {
  answer: context => request => {
    const dialect = dialectOf(request, context.settings.dialect)
    const work = async (admission: Admission) => {
      // A client that sends its body slowly does not take a slot meanwhile.
      const body = await context.queue.withoutSlot(() => request.readJson(bodyBytesMax))
      const contracts = readAddresses(body)
      const answer = answerOf(context, request, admission)
      const found = await Promise.all(contracts.map(answer))
      const list = found.map(({ metadata }) => (metadata === undefined ? null : shown(metadata, dialect)))
      const indexComplete = found.every(each => each.indexComplete)
      return { ready: ready(list, { dialect, indexComplete }), keep: false }
    }
    return perform(context, request, { scope: 'nft-transfers', about: 'indexed', work })
  },
  document: ({ chains }, version) => ({
    id: version === 'v2' ? 'getNFTBulkContractMetadata' : 'getNFTBulkContractMetadataV22',
    tag: 'EVM',
    summary: 'Metadata of multiple collections',
    description: `Names, symbols and token standards of up to ${addressesMax} NFT contracts in one request, in the order of the addresses; null for one that is not known. Use it instead of a request for each contract.`,
    parameters: [inQuery(metadataParameters(chains).chain)],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: reference('ContractAddresses'),
          examples: { one: { value: { addresses: [exampleContract] } } },
        },
      },
    },
    answers: {
      200: jsonSuccess(
        'ContractMetadataList',
        'In the order of the addresses; null for one that is not known.',
        indexHeaders,
      ),
    },
    errors: chainErrors,
    failures: [refusedList()],
  }),
}

/** Reads the parameters that both share, and returns what answers for one contract. */
function answerOf(context: Context, request: ApiRequest, { key }: Admission) {
  const { store, chains, freshen, settings } = context
  const chain = new QueryText(request.query).optional(metadataParameters(chains).chain) ?? chains.usual
  const options = { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings) }
  return (contract: Address) => metadataOf(store, { chain: chain.id, contract }, options)
}

const listSchema = z.object({ addresses: z.array(z.string()).min(1).max(addressesMax) })

const refusedList = () => unacceptable('addresses', `a list of 1 to ${addressesMax} addresses`)
const unknownContract = () => new AlmanacError('not_found', 'No NFT contract is known at this address')

function readAddresses(body: unknown): Address[] {
  const result = listSchema.safeParse(body)
  if (!result.success) throw refusedList()
  const accepted = '0x and 40 hex digits, in any case'
  return result.data.addresses.map((text, at) => {
    const contract = parseAddress(text)
    if (contract === undefined) throw unacceptable(`addresses[${at}]`, accepted)
    return contract
  })
}

/** What is not on the chain is null, as clients expect it of contracts that have none. */
const offChain = {
  ...{ collection_logo: null, collection_banner_image: null, collection_category: null, project_url: null },
  ...{ wiki_url: null, discord_url: null, telegram_url: null, twitter_username: null, instagram_username: null },
}

function shown(metadata: ContractMetadata, dialect: Dialect) {
  const { contract, name = null, symbol = null, standard, syncedAtMs } = metadata
  const flag = (value: boolean) => (dialect === 'live' ? value : `${value}`)
  return {
    ...{ token_address: contract, name, symbol, contract_type: standard },
    synced_at: syncedAtMs === undefined ? null : new Date(syncedAtMs).toISOString(),
    ...{ possible_spam: flag(metadata.possibleSpam), verified_collection: flag(metadata.verifiedCollection) },
    ...offChain,
  }
}

function ready(value: unknown, { dialect, indexComplete }: { dialect: Dialect; indexComplete: boolean }) {
  const headers = { 'X-Dialect': dialect, 'X-Index-Complete': `${indexComplete}` }
  return readyAnswer({ headers, body: Buffer.from(JSON.stringify(value)) as Buffer<ArrayBuffer> })
}
