// The operations on Solana accounts and mints over HTTP, on top of a real node that holds accounts recorded on mainnet.
import {
  getEditionAccountDataSerializer,
  getMasterEditionAccountDataSerializer,
} from '@metaplex-foundation/mpl-token-metadata'
import { base58 } from '@scure/base'
import { type Address, generateKeyPairSigner } from '@solana/kit'
import { getMintDecoder } from '@solana-program/token-2022'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { SolanaNode } from '../sandbox/src/solana-node.ts'
import * as schemas from '../src/api/schemas.ts'
import { IndexingLimits } from '../src/keys/indexing-limits.ts'
import { issueKey } from '../src/keys/keys.ts'
import { createLog } from '../src/log.ts'
import { displayAmount } from '../src/solana/amounts.ts'
import { metadataProgram, tokenProgramAddresses } from '../src/solana/decode.ts'
import { createSolana, type Solana } from '../src/solana/network.ts'
import { editionAddress } from '../src/solana/pda.ts'
import { solanaAccount } from './recordings.ts'
import { type ServedApi, serveApi } from './served-api.ts'
import { type FaultProxy, startFaultProxy } from './solana-fault-proxy.ts'
import { startProgramNode } from './solana-program-node.ts'
import { mintData, tokenAccountData } from './solana-snapshot-archive.ts'
import { Wallet } from './solana-wallet.ts'

let node: SolanaNode
let proxy: FaultProxy
let wallet: Wallet
let solana: Solana | undefined
let served: ServedApi

const madLad = '5rEeYv8R25b8j6YTHJvYuCKEzq44UCw1Wx1Wx2VPPLz1'
const silurian = '9yQecKKYSHxez7fFjJkUvkz42TLmkoXzhyZxEf2pw8pz'
const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const key = (text: string) => base58.decode(text)

beforeAll(async () => {
  node = await startProgramNode()
  proxy = await startFaultProxy(node)
  wallet = await Wallet.create(node)
  const settings = { devnet: { rpc: [proxy.rpcUrl], maxAgeMs: 0, subscriptionsMax: 0, reconcileMs: 60_000 } }
  let limits: IndexingLimits
  served = await serveApi({
    fill: async store => {
      limits = new IndexingLimits(store)
    },
    parts: {
      displayAmount,
      freshen: {
        portfolio: (network, owner, key) =>
          limits.owner(key, { network, owner }, () => solana!.freshen.portfolio(network, owner)),
        mint: (network, mint, key) => limits.mint(key, { network, mint }, () => solana!.freshen.mint(network, mint)),
      },
    },
  })
  const log = createLog({ level: 'silent', format: 'json' })
  solana = createSolana({ settings, store: served.store, log })
  for (const name of ['madlads-9963', 'silurian-edition', 'usdc', 'pyusd', 'susd']) {
    const parts = name === 'pyusd' || name === 'susd' ? ['mint'] : ['mint', 'metadata']
    for (const part of parts) {
      const { key, lamports, data, program } = solanaAccount(`${name}-${part}`)
      await node.setAccount(base58.encode(key), { lamports: Number(lamports), data, program })
    }
  }
  const official = { lamports: 2_853_600, program: metadataProgram }
  const original = getMasterEditionAccountDataSerializer().serialize({ supply: 0n, maxSupply: 0n })
  const print = getEditionAccountDataSerializer().serialize({ parent: madLad as never, edition: 7n })
  await node.setAccount(base58.encode(editionAddress(key(madLad))), { ...official, data: original })
  await node.setAccount(base58.encode(editionAddress(key(silurian))), { ...official, data: print })
})
afterAll(async () => {
  await solana?.close()
  await served?.close()
  await proxy?.close()
  await node?.stop()
})
afterEach(() => {
  proxy.fault = undefined
})

async function ask<Shape>(path: string, schema: z.ZodType<Shape>): Promise<Shape> {
  const answer = await served.get(path)
  expect([answer.status, path]).toEqual([200, path])
  expect(Number(answer.headers.get('x-solana-slot'))).toBeGreaterThan(0)
  expect(answer.headers.get('age')).toBe('0')
  return schema.parse(await answer.json())
}

describe('of an account', () => {
  let owner: Address
  beforeAll(async () => {
    owner = (await generateKeyPairSigner()).address
    await wallet.transferSol(owner, 1_234_567_890n)
    await wallet.mintTo(owner, await wallet.createMint({ decimals: 6 }), 2n ** 64n - 1n)
    await wallet.mintTo(owner, await wallet.createMint({ decimals: 0 }), 1n)
    await wallet.mintTo(owner, await wallet.createMint({ decimals: 9, program: 'token-2022' }), 42n, 'token-2022')
  })

  test('balance, tokens and NFTs are the parts of its portfolio, and the node’s own', async () => {
    const whole = await ask(`/account/devnet/${owner}/portfolio`, schemas.portfolio)
    expect(whole.nativeBalance).toEqual({ lamports: '1234567890', solana: '1.23456789' })
    expect([whole.tokens.length, whole.nfts.length]).toEqual([2, 1])
    const parts = [
      await ask(`/account/devnet/${owner}/balance`, schemas.solanaBalance),
      await ask(`/account/devnet/${owner}/tokens`, schemas.solanaHoldings),
      await ask(`/account/devnet/${owner}/nft`, schemas.solanaHoldings),
    ]
    expect(parts).toEqual([whole.nativeBalance, whole.tokens, whole.nfts])
    const known = [...whole.tokens, ...whole.nfts].map(({ associatedTokenAddress, mint, amountRaw }) => ({
      ...{ account: associatedTokenAddress, mint, amountRaw },
    }))
    expect(known.sort((a, b) => (a.account < b.account ? -1 : 1))).toEqual(await wallet.tokensOf(owner))
  })

  test('one that does not exist has nothing', async () => {
    const { address } = await generateKeyPairSigner()
    expect(await ask(`/account/devnet/${address}/balance`, schemas.solanaBalance)).toEqual({
      lamports: '0',
      solana: '0',
    })
    expect(await ask(`/account/devnet/${address}/tokens`, schemas.solanaHoldings)).toEqual([])
    expect(await ask(`/account/devnet/${address}/nft`, schemas.solanaHoldings)).toEqual([])
  })

  test('a fungible asset stands with the tokens, and with the NFTs where that is asked for', async () => {
    const { address } = await generateKeyPairSigner()
    const { address: account } = await generateKeyPairSigner()
    const asset = await wallet.createMint({ decimals: 0 })
    await wallet.mintTo(address, asset, 5n)
    await wallet.mintTo(address, await wallet.createMint({ decimals: 6 }), 7n)
    const program = tokenProgramAddresses.token
    const held = tokenAccountData({ mint: key(madLad), owner: key(address), amount: 1n })
    await node.setAccount(account, { lamports: 2_039_280, data: held, program })
    const listed = async (query: string) => {
      const found = await ask(`/account/devnet/${address}/nft${query}`, schemas.solanaHoldings)
      return found.map(({ mint }) => mint).sort()
    }
    await ask(`/account/devnet/${address}/tokens`, schemas.solanaHoldings)
    await served.store.updateAccounts('devnet', {
      mints: [
        {
          ...{ mint: key(asset), slot: 2 ** 40, readAtMs: Date.now() },
          metadata: { name: 'Ore', symbol: 'ORE', tokenStandard: 1 },
          account: {
            ...{ program: 'token', decimals: 0, supply: 5n, name: undefined, symbol: undefined },
            amountRule: undefined,
          },
        },
      ],
    })
    expect(await listed('')).toEqual([madLad])
    expect(await listed('?includeFungibleAssets=false&excludeSpam=true&nftMetadata=true')).toEqual([madLad])
    expect(await listed('?includeFungibleAssets=true')).toEqual([asset, madLad].sort())
  })

  test.each(['balance', 'tokens', 'nft'])('400 on %s for an address that a program derived', async name => {
    const derived = base58.encode(editionAddress(key(usdc)))
    const refused = await served.get(`/account/devnet/${derived}/${name}`)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ code: 'bad_request', statusCode: 400, message: /^address must be/ })
    expect((await served.get(`/account/devnet/${derived}/portfolio`)).status).toBe(200)
  })

  test.each([
    ['/account/testnet/OWNER/balance', 'network'],
    ['/account/devnet/1234/tokens', 'address'],
    ['/account/devnet/OWNER/nft?includeFungibleAssets=2', 'includeFungibleAssets'],
    ['/account/devnet/OWNER/tokens?excludeSpam=perhaps', 'excludeSpam'],
  ])('400 for %s', async (path, parameter) => {
    const refused = await served.get(path.replace('OWNER', owner))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ details: { parameter } })
  })

  test.each(['balance', 'tokens', 'nft'])('%s is a 502 as a whole while one part cannot be read', async name => {
    proxy.fault = ({ method, params }) =>
      method === 'getTokenAccountsByOwner' && JSON.stringify(params).includes('TokenzQdBN')
        ? { kind: 'status', status: 500 }
        : undefined
    const refused = await served.get(`/account/devnet/${owner}/${name}`)
    expect(refused.status).toBe(502)
    expect(await refused.json()).toMatchObject({
      message: `The Token-2022 accounts of ${owner} could not be read from solana devnet.`,
    })
  })
})

describe('of a mint', () => {
  test('an original: names, Metaplex fields and edition', async () => {
    expect(await ask(`/nft/devnet/${madLad}/metadata`, schemas.solanaNftMetadata)).toEqual({
      ...{ mint: madLad, standard: 'metaplex', name: 'Mad Lads #9963', symbol: 'MAD', tokenStandard: 4 },
      totalSupply: '1',
      metaplex: {
        metadataUri: 'https://madlads.s3.us-west-2.amazonaws.com/json/9963.json',
        updateAuthority: '2RtGg6fsFiiF1EQzHqbd66AhW7R5bWeQGpTbv2UMkCdW',
        ...{ sellerFeeBasisPoints: 420, primarySaleHappened: 1, isMutable: true, masterEdition: true },
      },
    })
  })

  test('a print is not a master edition', async () => {
    const { metaplex } = await ask(`/nft/devnet/${silurian}/metadata`, schemas.solanaNftMetadata)
    expect(metaplex).toMatchObject({ sellerFeeBasisPoints: 1_000, isMutable: false, masterEdition: false })
  })

  test('a token: decimals and the whole supply, exact', async () => {
    expect(await ask(`/token/devnet/${usdc}/metadata`, schemas.solanaTokenMetadata)).toMatchObject({
      ...{ mint: usdc, standard: 'metaplex', name: 'USD Coin', symbol: 'USDC', tokenStandard: null },
      ...{ decimals: '6', totalSupply: '3688102136626265', totalSupplyFormatted: '3688102136.626265' },
      metaplex: { updateAuthority: '2wmVCSfPxGPjrnMMn7rchp4uaeoTqN39mXFC2zhPdri9', masterEdition: false },
    })
  })

  test('one without Metaplex metadata: names of its extension, its mint authority, nothing made up', async () => {
    const { key: mint, data } = solanaAccount('pyusd-mint')
    const none = { sellerFeeBasisPoints: 0, primarySaleHappened: 0, isMutable: false, masterEdition: false }
    const official = getMintDecoder().decode(data).mintAuthority
    const authority = official.__option === 'Some' ? official.value : undefined
    expect(await ask(`/token/devnet/${base58.encode(mint)}/metadata`, schemas.solanaTokenMetadata)).toMatchObject({
      ...{ standard: '', name: 'PayPal USD', symbol: 'PYUSD', totalSupplyFormatted: '168620476.68261' },
      metaplex: { metadataUri: '', updateAuthority: authority, ...none },
    })
    const { address } = await generateKeyPairSigner()
    const bare = mintData({ decimals: 2, supply: 9_999n })
    await node.setAccount(address, { lamports: 1_461_600, data: bare, program: tokenProgramAddresses.token })
    expect(await ask(`/nft/devnet/${address}/metadata`, schemas.solanaNftMetadata)).toEqual({
      ...{ mint: address, standard: '', name: '', symbol: '', tokenStandard: null, totalSupply: '9999' },
      metaplex: { metadataUri: '', updateAuthority: '11111111111111111111111111111111', ...none },
    })
  })

  test('the supply of one that bears interest is what its program shows', async () => {
    const mint = base58.encode(solanaAccount('susd-mint').key) as Address
    // It grows with each second of the chain's clock, which goes on between the questions.
    const supply = BigInt((await ask(`/token/devnet/${mint}/metadata`, schemas.solanaTokenMetadata)).totalSupply)
    const before = await wallet.uiAmount(mint, supply)
    const shown = await ask(`/token/devnet/${mint}/metadata`, schemas.solanaTokenMetadata)
    const after = await wallet.uiAmount(mint, supply)
    expect(Number(shown.totalSupplyFormatted)).toBeGreaterThanOrEqual(Number(before))
    expect(Number(shown.totalSupplyFormatted)).toBeLessThanOrEqual(Number(after))
    expect(shown.totalSupplyFormatted).not.toBe('1773140.220594')
  })

  test('404 where there is none: no account, a wallet, a token account', async () => {
    const nobody = (await generateKeyPairSigner()).address
    const owner = wallet.payer.address
    const held = await wallet.mintTo(owner, await wallet.createMint({ decimals: 1 }), 1n)
    for (const address of [nobody, owner, held])
      for (const kind of ['nft', 'token']) {
        const refused = await served.get(`/${kind}/devnet/${address}/metadata`)
        expect([refused.status, kind, address]).toEqual([404, kind, address])
        expect(await refused.json()).toMatchObject({
          ...{ code: 'not_found', statusCode: 404, error: 'Not Found' },
          message: `There is no mint at ${address} on Solana devnet`,
        })
      }
  })

  test('a change shows with the next question, and one call answers all who ask at once', async () => {
    const { address } = await generateKeyPairSigner()
    const put = (supply: bigint) =>
      node.setAccount(address, {
        ...{ lamports: 1_461_600, program: tokenProgramAddresses.token },
        data: mintData({ decimals: 0, supply }),
      })
    const supply = async () => (await ask(`/nft/devnet/${address}/metadata`, schemas.solanaNftMetadata)).totalSupply
    await put(1n)
    proxy.calls.clear()
    const readings = await Promise.all(Array.from({ length: 20 }, () => solana!.freshen.mint('devnet', key(address))))
    expect(new Set(readings.map(({ facts }) => facts?.supply))).toEqual(new Set(['1']))
    expect(proxy.calls.get('getMultipleAccounts')).toBe(1)
    await put(2n)
    expect(await supply()).toBe('2')
  })

  test('502 in own words while the node fails, the reason in the log alone, then right again', async () => {
    proxy.fault = () => ({ kind: 'rpc-error', code: -32_000, message: 'disk of node seven is broken' })
    const refused = await served.get(`/token/devnet/${usdc}/metadata`)
    expect(refused.status).toBe(502)
    const body = JSON.stringify(await refused.json())
    expect(body).toContain(`The metadata of ${usdc} could not be read from solana devnet.`)
    expect(body).not.toContain('node seven')
    expect(served.logged.join('')).toContain('node seven')
    proxy.fault = undefined
    await expect
      .poll(async () => (await served.get(`/token/devnet/${usdc}/metadata`)).status, { timeout: 5_000 })
      .toBe(200)
  })

  test('counts against what a key may have read, once for each mint', async () => {
    const limited = await issueKey(served.store, { name: 'two', scopes: ['portfolio'], indexPerDay: 2 })
    const status = async (mint: string) =>
      (await served.get(`/nft/devnet/${mint}/metadata`, { 'x-api-key': limited.secret })).status
    const fresh = await Promise.all(Array.from({ length: 3 }, () => wallet.createMint({ decimals: 0 })))
    for (const mint of fresh.slice(0, 2)) expect([await status(mint), await status(mint)]).toEqual([200, 200])
    expect(await status(fresh[2]!)).toBe(429)
    // What the store has is free.
    expect(await status(madLad)).toBe(200)
  })

  test('a key without the scope is refused, a network without a node is named', async () => {
    const { secret } = await issueKey(served.store, { name: 'narrow', scopes: ['wallet-chains'] })
    expect((await served.get(`/nft/devnet/${madLad}/metadata`, { 'x-api-key': secret })).status).toBe(403)
    const refused = await served.get(`/nft/mainnet/${madLad}/metadata`)
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'not_configured', message: /Solana mainnet/ })
  })
})
