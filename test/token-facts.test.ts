// What contracts on a real node say of themselves and of their tokens, through the indexer to the answers.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ChainTable } from '../src/chains.ts'
import { createEvm, type Evm } from '../src/evm/create-evm.ts'
import { createLog } from '../src/log.ts'
import type { Address, ChainId, ShownToken } from '../src/model.ts'
import { mediaOf } from '../src/query/metadata/token-media.ts'
import { normalizedMetadataOf } from '../src/query/metadata/token-metadata.ts'
import { TokenUris } from '../src/query/metadata/token-uris.ts'
import { accounts } from './evm-accounts.ts'
import { loadContracts } from './evm-contracts.ts'
import { patienceMs } from './evm-harness.ts'
import { mine } from './evm-history.ts'
import { type EvmNode, startEvmNode } from './evm-node.ts'
import { type Deployed, deployment } from './evm-transactions.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const chain = 1 as ChainId
const slowMs = 120_000

describe('a real node', { timeout: slowMs }, () => {
  let node: EvmNode
  let api: ServedApi
  let evm: Evm
  let contracts: Record<'uris' | 'seven' | 'empty' | 'coin', Deployed>

  beforeAll(async () => {
    const { Uris, Collection721, Coin } = await loadContracts()
    node = await startEvmNode()
    const from = 'alice'
    const holder = accounts[from].address
    const deployed = [
      deployment(Uris, { from, nonce: 0 }),
      deployment(Collection721, { from, nonce: 1, args: ['Seven', 'SVN'] }),
      deployment(Collection721, { from, nonce: 2, args: ['Empty', 'EMP'] }),
      deployment(Coin, { from, nonce: 3, args: ['Coin', 'CN', holder] }),
    ]
    const [uris, seven, empty, coin] = deployed.map(({ contract }) => contract) as [
      Deployed,
      Deployed,
      Deployed,
      Deployed,
    ]
    contracts = { uris, seven, empty, coin }
    await mine(
      node,
      deployed.map(({ transaction }) => transaction),
    )
    await mine(node, [{ from, ...seven.call('mint', holder, 7n) }])
    api = await serveApi({
      parts: {
        freshen: {
          contract: (...[id, contract, waitMs]) =>
            evm.ensureContract(id, contract, waitMs, { id: 'k', indexWaiting: undefined }),
        },
      },
    })
    evm = createEvm({
      settings: { eth: { rpc: [node.url], index: 'on-demand', from: 0, contracts: [], finality: 1 } },
      ...{ chains: new ChainTable(), store: api.store, pageSizeMax: 100 },
      log: createLog({ level: 'silent', format: 'json' }),
    })
  }, slowMs)
  afterAll(async () => {
    await evm?.close()
    await api?.close()
    await node?.stop()
  })

  test('URIs are read when they are shown, and a hostile contract costs nothing but a null', async () => {
    const contract = contracts.uris.address.toLowerCase() as Address
    const token = (id: number, standard: ShownToken['standard'] = 'ERC721'): ShownToken => ({
      ...{ contract, tokenId: BigInt(id), standard },
    })
    const nowhere = { ...token(1), contract: `0x${'ee'.repeat(20)}` as Address }
    const tokens = [...Array.from({ length: 10 }, (_, id) => token(id)), token(0xabc, 'ERC1155'), nowhere]
    const freshen = {
      tokenUris: (...[id, asked]: [ChainId, readonly ShownToken[]]) => evm.readTokenUris(id, asked, patienceMs),
    }
    const uris = new TokenUris(api.store, freshen)
    const { details } = await vi.waitFor(
      async () => {
        const answer = await uris.of(chain, tokens)
        expect(answer.complete).toBe(true)
        return answer
      },
      { timeout: patienceMs },
    )
    const five = '{"name":"Five","attributes":[{"trait_type":"Eyes","value":2}]}'
    const none = [undefined, undefined]
    expect(details.map(({ tokenUri, metadata }) => [tokenUri, metadata])).toEqual([
      ['ipfs://hash/0', undefined],
      ...[none, none, none, none],
      [`data:application/json;utf8,${five}`, five],
      ...[none, none, none, none],
      [`https://example.com/${'abc'.padStart(64, '0')}.json`, undefined],
      none,
    ])
    for (const { syncedAtMs } of details) expect(Date.now() - syncedAtMs!).toBeLessThan(patienceMs)
    expect(normalizedMetadataOf(five)).toMatchObject({ name: 'Five', attributes: [{ trait_type: 'Eyes', value: 2 }] })
    expect(await evm.metrics()).toMatch(/almanac_evm_token_uri_readings_total\{chain="eth",outcome="read"\} 12/)
  })

  test('a collection of the sandbox draws its tokens itself', async () => {
    const token = {
      contract: contracts.seven.address.toLowerCase() as Address,
      tokenId: 7n,
      standard: 'ERC721' as const,
    }
    const uris = new TokenUris(api.store, { tokenUris: (id, asked) => evm.readTokenUris(id, asked, patienceMs) })
    const metadata = await vi.waitFor(
      async () => {
        const { details } = await uris.of(chain, [token])
        expect(details[0]!.metadata).toBeDefined()
        return details[0]!.metadata!
      },
      { timeout: patienceMs },
    )
    expect(normalizedMetadataOf(metadata)).toMatchObject({
      ...{ name: 'Seven #7', description: 'Drawn by its contract.' },
      attributes: [
        { trait_type: 'Hour', value: expect.any(String) },
        { trait_type: 'Paint', display_type: 'number' },
      ],
    })
    const media = mediaOf({ tokenUri: undefined, metadata })
    expect(media).toMatchObject({ status: 'success', type: 'image/svg+xml' })
    expect(`${(media as { bytes: () => Buffer }).bytes()}`).toMatch(
      /^<svg xmlns='[^']+' viewBox='0 0 100 100'>.*<\/svg>$/,
    )
  })

  test('metadata of a contract that is not indexed starts its indexing; what is not an NFT contract is not found', async () => {
    const ask = (address: string) => api.get(`/api/v2.2/nft/${address}/metadata`, { prefer: 'wait=14' })
    const known = async (address: string) => {
      const answer = await ask(address)
      expect(answer.status).toBe(200)
      return await answer.json()
    }
    const { seven, empty, coin } = contracts
    const dated = { contract_type: 'ERC721', synced_at: expect.stringMatching(/^20.*Z$/) }
    await expect
      .poll(() => known(seven.address), { timeout: patienceMs })
      .toMatchObject({ name: 'Seven', symbol: 'SVN', ...dated })
    expect(await (await api.get(`/api/v2.2/nft/${seven.address}/transfers`)).json()).toMatchObject({
      result: [{ token_id: '7' }],
      index_complete: true,
    })
    // Without a transfer it is one by its own word.
    await expect.poll(() => known(empty.address), { timeout: patienceMs }).toMatchObject({ name: 'Empty', ...dated })
    for (const address of [coin.address, accounts.alice.address]) expect((await ask(address)).status).toBe(404)
  })
})
