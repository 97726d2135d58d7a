// What every generation of the public SDK must be able to do with what nodes have: native balances, Solana accounts and
// mints. The service runs in this process, on top of a local node of each kind.
import { base58 } from '@scure/base'
import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SolanaNode } from '../../sandbox/src/solana-node.ts'
import { ChainTable } from '../../src/chains.ts'
import { ChainRpc } from '../../src/evm/rpc/chain-rpc.ts'
import { readBalances } from '../../src/evm/source/balances.ts'
import { createLog } from '../../src/log.ts'
import { createSolana } from '../../src/solana/network.ts'
import { accounts } from '../evm-accounts.ts'
import { type EvmNode, startEvmNode } from '../evm-node.ts'
import { signed } from '../evm-transactions.ts'
import { solanaAccount } from '../recordings.ts'
import { type ServedApi, serveApi } from '../served-api.ts'
import { startProgramNode } from '../solana-program-node.ts'
import { Wallet } from '../solana-wallet.ts'

type Response = { raw: unknown; toJSON(): unknown; result: object }
type OnChain = { chain: string; toBlock?: number }
type OnNetwork = { network: string; address: string }

/** The part of the SDK that is used here. */
export type NodeSdk = {
  start(config: { apiKey: string; evmApiBaseUrl: string; solApiBaseUrl: string }): Promise<void>
  EvmApi: {
    balance: {
      getNativeBalance(request: OnChain & { address: string }): Promise<Response>
      getNativeBalancesForAddresses(request: OnChain & { walletAddresses: string[] }): Promise<Response>
    }
  }
  SolApi: {
    account: Record<'getBalance' | 'getSPL' | 'getNFTs', (request: OnNetwork) => Promise<Response>>
    nft: { getNFTMetadata(request: OnNetwork): Promise<Response> }
    /** Since 2.27. */
    token: { getTokenMetadata?(request: OnNetwork): Promise<Response> }
  }
}

const madLad = '5rEeYv8R25b8j6YTHJvYuCKEzq44UCw1Wx1Wx2VPPLz1'
const network = 'devnet'

export function testNodeSdk({ sdk, version }: { sdk: NodeSdk; version: 'v2' | 'v2.2' }): void {
  const opened = new AsyncDisposableStack()
  let evm: EvmNode
  let node: SolanaNode
  let wallet: Wallet
  let served: ServedApi

  beforeAll(async () => {
    ;[evm, node] = await Promise.all([startEvmNode(), startProgramNode()])
    opened.defer(() => evm.stop())
    opened.defer(() => node.stop())
    wallet = await Wallet.create(node)
    const chains = new ChainTable()
    const chain = chains.parse('eth')!
    const rpc = new ChainRpc({ chain, endpoints: [{ url: evm.url }] })
    opened.defer(() => rpc.close())
    let solana: ReturnType<typeof createSolana> | undefined
    served = await serveApi({
      parts: {
        freshen: {
          balances: asked => readBalances({ chain, rpc }, asked, 10_000),
          portfolio: (network, owner) => solana!.freshen.portfolio(network, owner),
          mint: (network, mint) => solana!.freshen.mint(network, mint),
        },
      },
    })
    opened.defer(() => served.close())
    const settings = { devnet: { rpc: [node.rpcUrl], maxAgeMs: 0, subscriptionsMax: 0, reconcileMs: 60_000 } }
    solana = createSolana({ settings, store: served.store, log: createLog({ level: 'silent', format: 'json' }) })
    opened.defer(async () => await solana?.close())
    for (const name of ['madlads-9963-mint', 'madlads-9963-metadata', 'madlads-9963-token-account', 'pyusd-mint']) {
      const { key, lamports, data, program } = solanaAccount(name)
      await node.setAccount(base58.encode(key), { lamports: Number(lamports), data, program })
    }
    const evmApiBaseUrl = `${served.url}/api/${version}`
    await sdk.start({ apiKey: served.key, evmApiBaseUrl, solApiBaseUrl: served.url })
  })
  afterAll(() => opened.disposeAsync())

  test('getNativeBalance and getNativeBalancesForAddresses are what the node says', async () => {
    const [dave, erin] = [accounts.dave.address, accounts.erin.address]
    const send = (to: `0x${string}`, value: bigint) => ({ from: 'alice' as const, to, value })
    await evm.mine(await signed(evm, [send(dave, 10n ** 21n / 3n), send(erin, 1n)]))
    const before = Number(await evm.ask('eth_blockNumber'))
    await evm.mine(await signed(evm, [send(erin, 41n)]))
    const one = await sdk.EvmApi.balance.getNativeBalance({ chain: '0x1', address: dave })
    expect(one.raw).toEqual({ balance: `${BigInt((await evm.ask('eth_getBalance', dave, 'latest')) as string)}` })
    expect(one.toJSON()).toEqual(one.raw)
    expect(`${(one.result as { balance: { wei: string } }).balance.wei}`).toBe('333333333333333333333')
    const earlier = await sdk.EvmApi.balance.getNativeBalance({ chain: '0x1', address: erin, toBlock: before })
    expect(earlier.raw).toEqual({ balance: '1' })

    const asked = { chain: '0x1', walletAddresses: [dave, erin] }
    const many = await sdk.EvmApi.balance.getNativeBalancesForAddresses(asked)
    const { timestamp } = (await evm.ask('eth_getBlockByNumber', 'latest', false)) as { timestamp: string }
    expect(many.raw).toEqual([
      {
        ...{ chain: 'eth', chain_id: '0x1', block_number: `${before + 1}` },
        block_timestamp: new Date(Number(timestamp) * 1_000).toISOString(),
        total_balance: '333333333333333333375',
        total_balance_formatted: '333.333333333333333375',
        wallet_balances: [
          {
            ...{ address: dave.toLowerCase(), balance: '333333333333333333333' },
            balance_formatted: '333.333333333333333333',
          },
          { address: erin.toLowerCase(), balance: '42', balance_formatted: '0.000000000000000042' },
        ],
      },
    ])
    expect(many.toJSON()).toEqual(many.raw)
    const [read] = many.result as unknown as { totalBalance: { wei: string }; walletBalances: object[] }[]
    expect([read!.totalBalance.wei, read!.walletBalances.length]).toEqual(['333333333333333333375', 2])
  })

  test('getBalance, getSPL and getNFTs of an account', async () => {
    const { address } = await generateKeyPairSigner()
    await wallet.transferSol(address, 1_500_000_000n)
    const mint = await wallet.createMint({ decimals: 6 })
    const account = await wallet.mintTo(address, mint, 2_500_000n)
    const unique = await wallet.createMint({ decimals: 0 })
    const nftAccount = await wallet.mintTo(address, unique, 1n)
    const { getBalance, getSPL, getNFTs } = sdk.SolApi.account
    const balance = await getBalance({ network, address })
    expect(balance.raw).toEqual({ lamports: '1500000000', solana: '1.5' })
    expect(balance.toJSON()).toEqual(balance.raw)
    // The SDK takes lamports for SOL here, in both generations.
    expect((balance.result as { solana: string }).solana).toBe('1500000000.0')
    const none = { name: '', symbol: '' }
    const spl = await getSPL({ network, address })
    const token = { associatedTokenAddress: account, mint, ...none }
    expect(spl.raw).toEqual([{ ...token, amount: '2.5', amountRaw: '2500000', decimals: 6 }])
    expect(spl.toJSON()).toEqual(spl.raw)
    expect(JSON.parse(JSON.stringify(spl.result))).toMatchObject([token])
    const nfts = await getNFTs({ network, address })
    const nft = { associatedTokenAddress: nftAccount, mint: unique, ...none }
    expect(nfts.raw).toEqual([{ ...nft, amount: '1', amountRaw: '1', decimals: 0 }])
    expect(nfts.toJSON()).toEqual(nfts.raw)
    expect(JSON.parse(JSON.stringify(nfts.result))).toMatchObject([nft])
  })

  test('the NFTs of a recorded account have their names', async () => {
    const nfts = await sdk.SolApi.account.getNFTs({ network, address: '3H3d3hfpZVVdVwuFAxDtDSFN2AdR7kwiDA3ynbnbkhc9' })
    expect(JSON.parse(JSON.stringify(nfts.result))).toMatchObject([{ mint: madLad, name: 'Mad Lads #9963' }])
  })

  test('getNFTMetadata with Metaplex and without, and of no mint', async () => {
    const { getNFTMetadata } = sdk.SolApi.nft
    const metaplex = {
      metadataUri: 'https://madlads.s3.us-west-2.amazonaws.com/json/9963.json',
      updateAuthority: '2RtGg6fsFiiF1EQzHqbd66AhW7R5bWeQGpTbv2UMkCdW',
      ...{ sellerFeeBasisPoints: 420, primarySaleHappened: 1, isMutable: true, masterEdition: false },
    }
    const known = { mint: madLad, standard: 'metaplex', name: 'Mad Lads #9963', symbol: 'MAD', metaplex }
    const metadata = await getNFTMetadata({ network, address: madLad })
    expect(metadata.raw).toEqual({ ...known, tokenStandard: 4, totalSupply: '1' })
    expect(metadata.toJSON()).toEqual(metadata.raw)
    expect(JSON.parse(JSON.stringify(metadata.result))).toEqual(known)
    const bare = await wallet.createMint({ decimals: 0 })
    expect(JSON.parse(JSON.stringify((await getNFTMetadata({ network, address: bare })).result))).toMatchObject({
      ...{ mint: bare, standard: '', name: '' },
      metaplex: { metadataUri: '', updateAuthority: wallet.payer.address },
    })
    const { address } = await generateKeyPairSigner()
    await expect(getNFTMetadata({ network, address })).rejects.toThrow(/Not Found\(404\): There is no mint at/)
  })

  test('getTokenMetadata, where the SDK has it', async () => {
    const { getTokenMetadata } = sdk.SolApi.token
    expect(getTokenMetadata === undefined).toBe(version === 'v2')
    if (getTokenMetadata === undefined) return
    const metadata = await getTokenMetadata({ network, address: base58.encode(solanaAccount('pyusd-mint').key) })
    expect(metadata.raw).toMatchObject({ name: 'PayPal USD', symbol: 'PYUSD', decimals: '6', standard: '' })
    expect(metadata.toJSON()).toEqual(metadata.raw)
    expect(JSON.parse(JSON.stringify(metadata.result))).toMatchObject({ name: 'PayPal USD', symbol: 'PYUSD' })
  })

  test('an address that a program derived, and a wallet above the head, are refused in words', async () => {
    const derived = base58.encode(solanaAccount('madlads-9963-metadata').key)
    await expect(sdk.SolApi.account.getBalance({ network, address: derived })).rejects.toThrow(
      /Bad Request\(400\): address must be the address of a wallet/,
    )
    const { number, hash, timestamp } = (await evm.ask('eth_getBlockByNumber', 'latest', false)) as Record<
      string,
      string
    >
    const head = { number: Number(number), hash: hash as never, timestamp: Number(timestamp) }
    await served.store.putChainState(1 as never, { head })
    const asked = { chain: '0x1', address: accounts.dave.address, toBlock: head.number + 1 }
    await expect(sdk.EvmApi.balance.getNativeBalance(asked)).rejects.toThrow(
      /Bad Request\(400\): to_block must not be above the head/,
    )
  })
}
