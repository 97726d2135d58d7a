// URIs of the tokens of an answer, with a node that is quick, slow or down. No store file and no node.
import { expect, test, vi } from 'vitest'
import type { Address, ChainId, ShownToken } from '../../model.ts'
import type { TokenUri } from '../../store/annotation-store.ts'
import { TokenUris } from './token-uris.ts'

const chain = 1 as ChainId
const dayMs = 86_400_000
const token = (at: number): ShownToken => ({
  ...{ contract: `0x${'c1'.repeat(20)}` as Address, tokenId: BigInt(at), standard: 'ERC721' },
})

/** What is read has a URI, but odd ids have none. `read` says when. */
function world(read: (tokens: readonly ShownToken[]) => Promise<void> = async () => {}) {
  const stored = new Map<bigint, TokenUri>()
  const put = (tokens: readonly ShownToken[], readAtMs = Date.now()) => {
    for (const { contract, tokenId } of tokens) {
      const uri = tokenId % 2n === 0n ? `data:application/json,{"id":${tokenId}}` : undefined
      stored.set(tokenId, { contract, tokenId, uri, readAtMs })
    }
  }
  const asked: bigint[][] = []
  const store = {
    tokenUris: async (_: ChainId, tokens: readonly { tokenId: bigint }[]) =>
      tokens.flatMap(({ tokenId }) => stored.get(tokenId) ?? []),
    contractsWithUris: async () => new Set<Address>(),
  }
  const tokenUris = async (_: ChainId, tokens: readonly ShownToken[]) => {
    asked.push(tokens.map(({ tokenId }) => tokenId))
    await read(tokens)
    put(tokens)
  }
  return { uris: new TokenUris(store, { tokenUris }), withoutNodes: new TokenUris(store, undefined), put, asked }
}

test('known ones at once and in order, unknown ones as soon as a quick node answers', async () => {
  const { uris, put, asked } = world()
  put([token(2), token(3)], Date.now() - dayMs + 60_000)
  const { details, complete } = await uris.of(chain, [token(4), token(3), token(2), token(4)])
  expect(complete).toBe(true)
  expect(details.map(({ tokenUri, metadata }) => [tokenUri, metadata])).toEqual([
    ['data:application/json,{"id":4}', '{"id":4}'],
    [undefined, undefined],
    ['data:application/json,{"id":2}', '{"id":2}'],
    ['data:application/json,{"id":4}', '{"id":4}'],
  ])
  expect(details.every(({ syncedAtMs }) => syncedAtMs! > Date.now() - dayMs - 1_000)).toBe(true)
  expect(asked).toEqual([[4n]])
})

test('a slow node is not waited for, and asked once for all that show the token', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { uris, asked } = world(() => promise)
  const startedMs = performance.now()
  const answers = await Promise.all([1, 2, 3].map(() => uris.of(chain, [token(2)])))
  expect(performance.now() - startedMs).toBeLessThan(10_000)
  for (const { details, complete } of answers) {
    expect(details).toEqual([{ tokenUri: undefined, metadata: undefined, syncedAtMs: undefined }])
    expect(complete).toBe(false)
  }
  expect(asked).toEqual([[2n]])
  resolve()
  await vi.waitFor(async () => expect((await uris.of(chain, [token(2)])).complete).toBe(true), { timeout: 60_000 })
})

test('what was read long ago is shown and read again; what had nothing sooner', async () => {
  const { uris, put, asked } = world()
  put([token(2), token(3)], Date.now() - 2 * dayMs)
  put([token(4)], Date.now() - 8 * dayMs)
  const { details, complete } = await uris.of(chain, [token(2), token(3), token(4)])
  expect(complete).toBe(true)
  expect(details[2]!.tokenUri).toBeDefined()
  expect(details[2]!.syncedAtMs).toBeLessThan(Date.now() - 7 * dayMs)
  expect(asked).toEqual([[3n, 4n]])
})

test('nodes that fail, and none at all, give nothing; those that fail are asked again', async () => {
  const { uris, withoutNodes, asked } = world(() => Promise.reject(new Error('down')))
  for (const each of [uris, uris, withoutNodes]) expect((await each.of(chain, [token(2)])).complete).toBe(false)
  expect(asked).toEqual([[2n], [2n]])
})

/** Stored with URIs of these lengths, as a store gives them. */
function storedUris(lengths: readonly number[]) {
  const asked: (number | undefined)[] = []
  const known = async (_: ChainId, all: readonly { tokenId: bigint }[], uriBytesMax = Infinity) => {
    asked.push(all.length)
    return all.map(({ tokenId }): TokenUri => {
      const length = lengths[Number(tokenId)]!
      const uri = length > uriBytesMax ? undefined : `data:,${'x'.repeat(length - 6)}`
      return { ...token(Number(tokenId)), uri, readAtMs: Date.now(), ...(uri === undefined && { uriBytes: length }) }
    })
  }
  const uris = new TokenUris({ tokenUris: known, contractsWithUris: async () => new Set<Address>() }, undefined)
  return { uris, asked, tokens: lengths.map((_, at) => token(at)) }
}

test('the URIs of one answer are bounded together, and so are those that wait', async () => {
  const { uris, tokens } = storedUris(Array.from({ length: 100 }, () => 90_000))
  const { details } = await uris.of(chain, tokens)
  expect(details.filter(({ tokenUri }) => tokenUri !== undefined)).toHaveLength(23)
  expect(details.filter(({ isLeftOut }) => isLeftOut)).toHaveLength(77)
  expect(details.every(({ syncedAtMs }) => syncedAtMs !== undefined)).toBe(true)

  const { uris: waiting, asked } = world(() => new Promise(() => {}))
  const page = (from: number) => Array.from({ length: 5_000 }, (_, at) => token(from + at))
  await Promise.all([0, 5_000, 10_000].map(from => waiting.of(chain, page(from))))
  expect(asked.flat()).toHaveLength(10_000)
})

test('long URIs are read one by one, into the room that the others leave', async () => {
  const { uris, tokens, asked } = storedUris([1_400_000, 50, 1_400_000, 500_000, 60])
  const { details, complete } = await uris.of(chain, tokens)
  expect(complete).toBe(true)
  expect(details.map(({ tokenUri }) => tokenUri?.length)).toEqual([1_400_000, 50, undefined, 500_000, 60])
  expect(details.map(({ isLeftOut }) => isLeftOut)).toEqual([undefined, undefined, true, undefined, undefined])
  expect(asked).toEqual([5, 1, 1])
  expect((await uris.stored(chain, tokens)).map(known => known?.tokenUri?.length)).toEqual([
    ...[undefined, 50, undefined, undefined, 60],
  ])
})
