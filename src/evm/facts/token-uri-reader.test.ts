// Token URIs from contracts of every behaviour: none hides another, and each costs a bounded number of calls.
import * as AbiParameters from 'ox/AbiParameters'
import { expect, test, vi } from 'vitest'
import { createLog } from '../../log.ts'
import { createEvmMetrics } from '../../metrics.ts'
import type { Address, ChainId, ShownToken } from '../../model.ts'
import { type RpcFailureKind, rpcError } from '../../rpc/failures.ts'
import type { TokenUri } from '../../store/annotation-store.ts'
import { RateBudget } from '../rate-budget.ts'
import type { RpcCall, RpcPort } from '../rpc/port.ts'
import { readTokenUris, TokenUriReader } from './token-uri-reader.ts'

const contract = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as Address
const text = (value: string) => AbiParameters.encode([{ type: 'string' }], [value])
const bytes = (value: Buffer) => AbiParameters.encode([{ type: 'bytes' }], [`0x${value.toString('hex')}`])
const token = (index: number, tokenId = 1n, standard: ShownToken['standard'] = 'ERC721'): ShownToken => ({
  ...{ contract: contract(index), tokenId, standard },
})
const fails = (kind: RpcFailureKind) => () => ({ fails: kind })

type Behaviour = (data: string) => unknown | { fails: RpcFailureKind }

/** An answer `{ fails }` fails the whole batch, as the transport does. */
function port(behaviours: Record<Address, Behaviour>) {
  const asked: number[] = []
  const rpc: Pick<RpcPort, 'ask'> = {
    async ask(calls: readonly RpcCall[]) {
      asked.push(calls.length)
      const values = calls.map(({ params }) => {
        const { to, data } = params[0] as { to: Address; data: string }
        return behaviours[to]?.(data) ?? '0x'
      })
      const failing = values.find(value => typeof value === 'object' && value !== null && 'fails' in value)
      if (failing !== undefined) {
        const { fails: kind } = failing as { fails: RpcFailureKind }
        throw rpcError({ kind, endpoint: 'node', method: 'eth_call' }, { chain: 'test', said: kind })
      }
      return { endpoint: 'node', values, bytes: 0 }
    },
  }
  const { signal } = new AbortController()
  return { asked, port: { rpc, budget: new RateBudget(Number.POSITIVE_INFINITY), signal } }
}

const ordinary: Behaviour = data => text(`ipfs://${data.slice(0, 10)}/${BigInt(`0x${data.slice(10)}`)}`)
const urisOf = async (tokens: ShownToken[], behaviours: Record<Address, Behaviour>) =>
  (await readTokenUris(tokens, port(behaviours).port)).uris.map(({ uri }) => uri)

test('each standard has its function, and {id} becomes 64 digits in lower case', async () => {
  const template = () => text('https://example.com/{id}?again={id}')
  const digits = `${'0'.repeat(60)}beef`
  const tokens = [token(1, 7n), token(1, 8n, 'ERC1155'), token(2, 0xbeefn, 'ERC1155')]
  expect(await urisOf(tokens, { [contract(1)]: ordinary, [contract(2)]: template })).toEqual([
    'ipfs://0xc87b56dd/7',
    'ipfs://0x0e89341c/8',
    `https://example.com/${digits}?again=${digits}`,
  ])
})

test.each<[string, unknown]>([
  ['a refusal', null],
  ['no contract', '0x'],
  ['empty text', text('')],
  ['a word', `0x${'41'.repeat(32)}`],
  ['a length beyond the answer', `0x${'0'.repeat(62)}20${'f'.repeat(64)}`],
  ['an offset beyond the answer', `0x${'f'.repeat(128)}`],
  ['bytes that are not UTF-8', bytes(Buffer.from([0x69, 0xff, 0xfe]))],
  ['a zero byte', text('ipfs://a\u0000b')],
  ['more than 1.4 MB', text('x'.repeat(1_400_000))],
  ['more than 1.4 MB with the ids', text('{id}'.repeat(25_000))],
  ['no hex', `0x${'zz'.repeat(96)}`],
  ['an object', { a: 1 }],
])('%s is no URI', async (_, answer) => {
  expect(await urisOf([token(1), token(2)], { [contract(1)]: () => answer, [contract(2)]: ordinary })).toEqual([
    undefined,
    'ipfs://0xc87b56dd/1',
  ])
})

test('one that holds a megabyte of JSON in base64 is read whole', async () => {
  const uri = `data:application/json;base64,${Buffer.alloc(2 ** 20, 'x').toString('base64')}`
  expect(await urisOf([token(1)], { [contract(1)]: () => text(uri) })).toEqual([uri])
})

test('one that answers megabytes, is refused or never ends hides no other, and a slow one is asked once', async () => {
  const { asked, port: way } = port({
    [contract(1)]: ordinary,
    [contract(2)]: fails('response-too-large'),
    [contract(3)]: fails('timeout'),
    [contract(4)]: fails('refused'),
  })
  const tokens = [token(3, 1n), token(1), token(2), token(3, 2n), token(3, 3n), token(4)]
  const { uris, slow } = await readTokenUris(tokens, way)
  expect(uris.map(({ uri }) => uri)).toEqual(['ipfs://0xc87b56dd/1', undefined, undefined])
  expect([...slow]).toEqual([contract(3)])
  // All together, then four alone, and twice whether the endpoints answer at all.
  expect(asked).toEqual([6, 1, 1, 1, 1, 1, 1])
})

test('endpoints that fail are no answer of a contract', async () => {
  await expect(readTokenUris([token(1)], port({ [contract(1)]: fails('transport') }).port)).rejects.toThrow()
  const all = { [contract(0)]: fails('timeout'), [contract(1)]: fails('timeout') }
  await expect(readTokenUris([token(1)], port(all).port)).rejects.toThrow()
})

function reader(behaviours: Record<Address, Behaviour>, { hasRoom = true, answersAfter = Promise.resolve() } = {}) {
  const { asked, port: way } = port(behaviours)
  const stored: TokenUri[] = []
  const ask: RpcPort['ask'] = async (...asking) => {
    await answersAfter
    return await way.rpc.ask(...asking)
  }
  const rpc = { ask }
  const made = new TokenUriReader({
    chain: { id: 1 as ChainId, name: 'test' },
    store: {
      annotate: async ({ tokenUris }) => stored.push(...(tokenUris?.uris ?? [])),
    },
    ...{ hasRoom: () => hasRoom, rpc, budget: way.budget, metrics: createEvmMetrics() },
    log: createLog({ level: 'silent', format: 'json' }),
  })
  return { made, asked, stored }
}

const page = (count: number, from = 0) => Array.from({ length: count }, (_, at) => token(1, BigInt(from + at)))

test('tokens are read in batches, each once at a time, and stored with those that have none', async () => {
  const { made, asked, stored } = reader({ [contract(1)]: ordinary })
  await Promise.all([made.ensure([...page(40), token(2)], 5_000), made.ensure(page(40), 5_000)])
  expect(asked).toEqual([16, 16, 9])
  expect(stored).toHaveLength(41)
  expect(stored.at(-1)).toEqual({
    ...{ contract: contract(2), tokenId: 1n },
    uri: undefined,
    readAtMs: expect.any(Number),
  })
  await made.stop()
})

test('more than can wait are left out, and no caller waits for longer than it says', async () => {
  const { promise: answersAfter, resolve: answer } = Promise.withResolvers<void>()
  const { made, stored } = reader({ [contract(1)]: ordinary }, { answersAfter })
  await made.ensure(page(5_000), 20)
  expect(stored).toEqual([])
  answer()
  await vi.waitFor(() => expect(stored).toHaveLength(2_000), { timeout: 60_000 })
  await made.stop()
})

test('after a failure the endpoints rest, nothing is asked while the store is full, and a slow contract is left alone', async () => {
  const down = reader({ [contract(1)]: fails('transport') })
  await down.made.ensure(page(40), 5_000)
  await down.made.ensure(page(40), 5_000)
  expect(down.asked).toEqual([16])
  const full = reader({ [contract(1)]: ordinary }, { hasRoom: false })
  await full.made.ensure(page(1), 5_000)
  expect(full.asked).toEqual([])
  const slow = reader({ [contract(1)]: fails('timeout') })
  await slow.made.ensure(page(1), 5_000)
  await slow.made.ensure([...page(1, 7), token(2)], 5_000)
  expect(slow.asked).toEqual([1, 1, 1])
  expect(slow.stored.map(uri => uri.contract)).toEqual([contract(2)])
})

test('after a batch that took long the node gets a rest of the same length', async () => {
  const startsMs: number[] = []
  const { made } = reader({
    [contract(1)]: () => {
      const now = startsMs[startsMs.push(performance.now()) - 1]!
      while (performance.now() - now < 20) {}
      return '0x'
    },
  })
  await made.ensure(page(17), 5_000)
  // The last of sixteen calls took 20 ms; the rest is as long as all of them.
  expect(startsMs[16]! - startsMs[15]!).toBeGreaterThan(300)
  await made.stop()
})

test('stopping ends what waits', async () => {
  const { made, stored } = reader({ [contract(1)]: ordinary })
  const waiting = made.ensure(page(2_000), 60_000)
  await made.stop()
  await waiting
  expect(stored.length).toBeLessThan(2_000)
  await made.ensure(page(1), 60_000)
})
