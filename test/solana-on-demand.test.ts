// Owners read when asked for, from a real node and through a proxy that misbehaves: right, whole, or an error by name.

import { base58 } from '@scure/base'
import { type Address, generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SolanaNode } from '../sandbox/src/solana-node.ts'
import { AlmanacError, messageWithCauses } from '../src/errors.ts'
import { createLog } from '../src/log.ts'
import { Network, type SolanaNetworkSettings } from '../src/solana/network.ts'
import type { Store } from '../src/store/store.ts'
import { solanaAccount } from './recordings.ts'
import { type Fault, type FaultProxy, startFaultProxy } from './solana-fault-proxy.ts'
import { startProgramNode } from './solana-program-node.ts'
import { asker, openTestStore } from './solana-store.ts'
import { Wallet } from './solana-wallet.ts'

const log = createLog({ level: 'silent', format: 'json' })

describe('on demand', { timeout: 180_000 }, () => {
  let node: SolanaNode
  let wallet: Wallet
  let store: Store
  let remove: () => Promise<void>
  const networks: Network[] = []

  const connect = (settings: Partial<SolanaNetworkSettings> & { rpc: readonly string[] }) => {
    const network = new Network({
      network: 'devnet',
      settings: { maxAgeMs: 0, subscriptionsMax: 0, reconcileMs: 60_000, ...settings },
      store,
      log,
    })
    networks.push(network)
    return asker(store, network)
  }
  const newOwner = async () => (await generateKeyPairSigner()).address

  beforeAll(async () => {
    node = await startProgramNode()
    wallet = await Wallet.create(node)
    ;({ store, remove } = await openTestStore())
  }, 120_000)
  afterAll(async () => {
    for (const network of networks) await network.close()
    await node?.stop()
    await remove?.()
  })

  test('an account that does not exist has nothing', async () => {
    const ask = connect({ rpc: [node.rpcUrl] })
    const answer = await ask(await newOwner())
    expect(answer).toMatchObject({ lamports: 0n, nfts: [], tokens: [] })
    expect(answer.slot).toBeGreaterThan(0)
  })

  test('no more requests are sent in a day than are set', async () => {
    const proxy = await startFaultProxy(node)
    try {
      const ask = connect({ rpc: [proxy.rpcUrl], dailyBudget: 2 })
      await expect(ask(await newOwner())).rejects.toMatchObject({
        message: expect.stringMatching(/ could not be read from solana devnet\.$/),
        cause: {
          code: 'upstream_rate_limited',
          cause: { message: expect.stringContaining('solana.devnet.daily_budget') },
        },
      })
      expect([...proxy.calls.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(2)
    } finally {
      await proxy.close()
    }
  })

  test('both programs and the native balance are the node’s own', async () => {
    const ask = connect({ rpc: [node.rpcUrl] })
    const owner = await newOwner()
    await wallet.transferSol(owner, 1_234_567_890n)
    await wallet.mintTo(owner, await wallet.createMint({ decimals: 6 }), 2n ** 64n - 1n)
    await wallet.mintTo(owner, await wallet.createMint({ decimals: 0, freeze: false }), 1n)
    const newMint = await wallet.createMint({ decimals: 9, program: 'token-2022' })
    await wallet.mintTo(owner, newMint, 42n, 'token-2022')
    await wallet.send(await wallet.createAssociated(owner, await wallet.createMint({ decimals: 2 })))
    const answer = await ask(owner)
    expect(answer.lamports).toBe(1_234_567_890n)
    expect(answer.nfts).toMatchObject([{ amountRaw: 1n, amount: '1', decimals: 0, name: '', symbol: '' }])
    expect(new Set(answer.tokens.map(({ amount }) => amount))).toEqual(
      new Set(['18446744073709.551615', '0.000000042']),
    )
    const entries = [...answer.nfts, ...answer.tokens]
      .map(({ account, mint, amountRaw }) => ({ account, mint, amountRaw: String(amountRaw) }))
      .sort((a, b) => (a.account < b.account ? -1 : 1))
    expect(entries).toEqual(await wallet.tokensOf(owner))
  })

  test('Metaplex metadata names a mint and says what it is', async () => {
    const ask = connect({ rpc: [node.rpcUrl] })
    for (const name of [
      'madlads-9963-mint',
      'madlads-9963-metadata',
      'madlads-9963-token-account',
      'wsol-token-account',
    ]) {
      const { key, lamports, data, program } = solanaAccount(name)
      await node.setAccount(base58.encode(key), { lamports: Number(lamports), data, program })
    }
    expect(await ask('3H3d3hfpZVVdVwuFAxDtDSFN2AdR7kwiDA3ynbnbkhc9')).toMatchObject({
      nfts: [{ name: 'Mad Lads #9963', symbol: 'MAD', amountRaw: 1n, amount: '1', decimals: 0 }],
      tokens: [],
    })
    expect(await ask('5tvSJRH4BUgJD3sR83Exnn13Zi524Dzo48GB4QaiFu9H')).toMatchObject({
      lamports: 0n,
      tokens: [{ mint: 'So11111111111111111111111111111111111111112', amount: '0.08684085', decimals: 9 }],
    })
  })

  describe('through a proxy', () => {
    let proxy: FaultProxy
    let owner: Address
    beforeAll(async () => {
      proxy = await startFaultProxy(node)
      owner = await newOwner()
      await wallet.mintTo(owner, await wallet.createMint({ decimals: 6 }), 1_500_000n)
    })
    beforeEach(() => {
      proxy.fault = undefined
      proxy.calls.clear()
    })
    afterAll(() => proxy?.close())

    test('many who ask at once share one reading, and a fresh one is not read again', async () => {
      const ask = connect({ rpc: [proxy.rpcUrl], maxAgeMs: 60_000 })
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask(owner)))
      expect(answers.every(({ tokens }) => tokens[0]?.amount === '1.5')).toBe(true)
      await ask(owner)
      // Two programs, and once more for the one that came from an older slot.
      expect(proxy.calls.get('getTokenAccountsByOwner')).toBeLessThanOrEqual(4)
      expect(proxy.calls.get('getMultipleAccounts')).toBeLessThanOrEqual(3)
    })

    const faults: [string, Fault, RegExp][] = [
      ['answers 500', { kind: 'status', status: 500 }, /answered 500 to/],
      ['answers 429', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }, /answered 429 to/],
      [
        'answers a JSON-RPC error',
        { kind: 'rpc-error', code: -32005, message: 'Node is behind' },
        /failed \w+ \(refused\): Node is behind$/,
      ],
      ['answers cut bodies', { kind: 'cut' }, /did not answer \w+: |failed \w+ \(invalid-answer\)/],
      ['answers HTML', { kind: 'garbage', body: '<html></html>' }, /failed \w+ \(invalid-answer\): an HTML page$/],
      [
        'answers an empty result',
        { kind: 'garbage', body: '{"jsonrpc":"2.0","id":0,"result":null}' },
        /without a slot/,
      ],
      [
        'answers a list that is none',
        {
          kind: 'garbage',
          body: '{"jsonrpc":"2.0","id":0,"result":{"context":{"slot":9007199254740990},"value":[{}]}}',
        },
        /\(invalid-answer\): an answer of another shape$/,
      ],
      ['resets connections', { kind: 'reset' }, /did not answer \w+: /],
    ]
    const parts: [string, (call: { method: string; params: unknown[] }) => boolean, RegExp][] = [
      ['the Token-2022 accounts', isProgram('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'), /Token-2022 accounts of/],
      ['the Token accounts', isProgram('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'), /Token accounts of/],
      ['the account itself', ({ method }) => method === 'getMultipleAccounts', /account itself of/],
    ]

    test.each(faults)(
      'a node that %s never makes a partial answer, and is used again when it recovers',
      async (_, fault, what) => {
        for (const [part, isPart, named] of parts) {
          const ask = connect({ rpc: [proxy.rpcUrl] })
          proxy.fault = call => (isPart(call) ? fault : undefined)
          const error = await ask(owner).catch((failure: unknown) => failure)
          expect(error, part).toBeInstanceOf(AlmanacError)
          expect(error).toMatchObject({ code: 'upstream_failed', retryable: true })
          expect(String(error)).toMatch(named)
          expect(messageWithCauses(error)).toMatch(what)
          expect(messageWithCauses(error)).toContain(`endpoint ${new URL(proxy.rpcUrl).host} `)
          // Clients get the message, and in it the part alone.
          expect(String(error)).toMatch(/ could not be read from solana devnet\.$/)
          proxy.fault = undefined
          await expect.poll(() => ask(owner).then(({ tokens }) => tokens[0]?.amount)).toBe('1.5')
        }
      },
    )

    test('a second endpoint takes over, and nobody notices', async () => {
      proxy.fault = () => ({ kind: 'status', status: 503 })
      const ask = connect({ rpc: [proxy.rpcUrl, node.rpcUrl] })
      for (let again = 0; again < 10; again++) expect((await ask(owner)).tokens[0]?.amount).toBe('1.5')
      // The breaker leaves the broken one alone.
      expect([...proxy.calls.values()].reduce((sum, calls) => sum + calls, 0)).toBeLessThan(10)
    })

    test('a node that stands still is not believed once it was seen further on', async () => {
      const ask = connect({ rpc: [proxy.rpcUrl] })
      // Every first answer that the proxy keeps is of this slot or of one before it.
      const first = await ask(owner)
      await expect.poll(() => ask(owner).then(({ slot }) => slot)).toBeGreaterThan(first.slot)
      proxy.fault = () => ({ kind: 'frozen' })
      await expect(ask(owner)).rejects.toMatchObject({ code: 'upstream_failed', message: /is only at slot/ })
    })

    test('no error shows the secret part of an address', async () => {
      proxy.fault = () => ({ kind: 'status', status: 500 })
      const secret = new URL(proxy.rpcUrl)
      secret.username = 'somebody'
      secret.password = 'hidden-one'
      secret.pathname = '/hidden-two'
      secret.search = '?api-key=hidden-three'
      const error = await connect({ rpc: [secret.href] })(owner).catch((failure: unknown) => failure)
      expect(error).toBeInstanceOf(AlmanacError)
      const everything = JSON.stringify([
        String(error),
        (error as AlmanacError).details,
        String((error as Error).cause),
      ])
      expect(everything).toContain(secret.host)
      expect(everything).not.toMatch(/hidden|somebody/)
    })
  })
})

function isProgram(programId: string) {
  return ({ method, params }: { method: string; params: unknown[] }) =>
    method === 'getTokenAccountsByOwner' && (params[1] as { programId: string }).programId === programId
}
