// The balance operations over HTTP: the native currency of one wallet, and of several. The rules are in
// `query/balances.ts`.
import type { Chain, ChainTable } from '../../chains.ts'
import { exactAmount } from '../../exact-amount.ts'
import type { Admission } from '../../keys/gatekeeper.ts'
import type { Address, NodeBalances } from '../../model.ts'
import { Balances } from '../../query/balances.ts'
import { type ReadyAnswer, readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import { timestampMax } from '../json-bytes.ts'
import { balanceHeaders, chainErrors, inPath, inQuery, inQueryList, jsonSuccess, nodeErrors } from '../openapi-parts.ts'
import { perform } from '../operation.ts'
import { addressParameter, chainParameter, QueryText, readParameter, unacceptable, wholeParameter } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import type { RouteParts } from '../responder.ts'

const walletsMax = 25
/** Of the currency of every EVM chain, whatever its name. */
const nativeDecimals = 18
const exampleWallet = '0x26fcbd3afebbe28d0a8684f790c48368d21665b5'

function balanceParameters(table: ChainTable) {
  const address = addressParameter('Address of the wallet.', exampleWallet)
  return {
    address,
    wallets: {
      ...address,
      name: 'wallet_addresses',
      refusal: 'wallet_addresses has an address that is not a valid hex address',
      description: `Addresses of up to ${walletsMax} wallets. Written as \`wallet_addresses[]=0x…&wallet_addresses[]=0x…\`, \`wallet_addresses[0]=0x…\` or \`wallet_addresses=0x…,0x…\`.`,
      example: [exampleWallet, '0x8ae57a027c63fca8070d1bf38622321de8004c67'],
    },
    chain: chainParameter('chain', table, 'Chain, by name or hex id. Defaults to `eth`.'),
    toBlock: wholeParameter('to_block', {
      min: 0,
      description:
        'Block after which the balance is read. Defaults to the head of the index. Old blocks take an archive node.',
      example: 16_220_260,
    }),
  }
}

export const nativeBalance: RouteParts = {
  answer: context => {
    const { address } = balanceParameters(context.chains)
    const read = walletReader(context)
    return request =>
      performed(context, request, async admission => {
        const wallet = readParameter(address, request.pathParameter('address'))
        const { found } = await read(request, [wallet], admission)
        return answered(found, { balance: found.balances[0]! })
      })
  },
  document: ({ chains }, version) => {
    const { address, chain, toBlock } = balanceParameters(chains)
    return {
      id: version === 'v2' ? 'getNativeBalance' : 'getNativeBalanceV22',
      tag: 'EVM',
      summary: 'Native balance of a wallet',
      description:
        'The balance of a wallet in the native coin of the chain, in the smallest unit, after the newest block or after `to_block`. A node of the chain is asked; `X-Block-Number` says after which block.',
      parameters: [inPath(address), inQuery(chain), inQuery(toBlock)],
      answers: { 200: jsonSuccess('NativeBalance', 'In the smallest unit.', balanceHeaders) },
      errors: balanceErrors,
    }
  },
}

export const nativeBalances: RouteParts = {
  answer: context => {
    const { wallets: parameter } = balanceParameters(context.chains)
    const read = walletReader(context)
    return request =>
      performed(context, request, async admission => {
        const wallets = new QueryText(request.query).list(parameter)
        if (wallets === undefined || wallets.length > walletsMax)
          throw unacceptable(parameter.name, `1 to ${walletsMax} addresses`)
        const { chain, found } = await read(request, wallets, admission)
        return answered(found, [shownBalances(chain, wallets, found)])
      })
  },
  document: ({ chains }, version) => {
    const { wallets, chain, toBlock } = balanceParameters(chains)
    return {
      id: version === 'v2' ? 'getNativeBalancesForAddresses' : 'getNativeBalancesForAddressesV22',
      tag: 'EVM',
      summary: 'Native balances of multiple wallets',
      description: `The native balances of up to ${walletsMax} wallets on one chain and their sum, after one block. Wallets come in the order of the request. Use it instead of a request for each wallet.`,
      parameters: [{ ...inQueryList(wallets), required: true }, inQuery(chain), inQuery(toBlock)],
      answers: { 200: jsonSuccess('NativeBalances', 'One element, with every wallet.', balanceHeaders) },
      errors: balanceErrors,
    }
  },
}

const balanceErrors = [...chainErrors, ...nodeErrors]

/** Reads the balances of wallets as a request asks for them. */
function walletReader({ chains, store, freshen }: Context) {
  const parameters = balanceParameters(chains)
  const balances = new Balances(store)
  return async (request: ApiRequest, wallets: readonly Address[], { key }: Admission) => {
    const query = new QueryText(request.query)
    const chain = query.optional(parameters.chain) ?? chains.parse('eth')!
    const toBlock = query.optional(parameters.toBlock)
    return { chain, found: await balances.answer({ chain, wallets, toBlock }, { key, freshen }) }
  }
}

type Work = (admission: Admission) => Promise<ReadyAnswer>

/** The reader keeps balances, so that answers need not be kept too. */
function performed(context: Context, request: ApiRequest, work: Work) {
  const answer = async (admission: Admission) => ({ ready: await work(admission), keep: false })
  return perform(context, request, { scope: 'balances', about: 'indexed', work: answer })
}

function answered({ block }: NodeBalances, value: unknown): ReadyAnswer {
  const body = Buffer.from(JSON.stringify(value)) as Buffer<ArrayBuffer>
  return readyAnswer({ headers: { 'X-Block-Number': `${block}` }, body })
}

function shownBalances({ name, hexId }: Chain, wallets: readonly Address[], read: NodeBalances) {
  const total = read.balances.reduce((sum, balance) => sum + BigInt(balance), 0n).toString()
  return {
    chain: name,
    chain_id: hexId,
    total_balance: total,
    block_number: `${read.block}`,
    block_timestamp: new Date(Math.min(read.timestamp, timestampMax) * 1_000).toISOString(),
    total_balance_formatted: exactAmount(total, nativeDecimals),
    wallet_balances: wallets.map((address, at) => ({
      address,
      balance: read.balances[at]!,
      balance_formatted: exactAmount(read.balances[at]!, nativeDecimals),
    })),
  }
}
