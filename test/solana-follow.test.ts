// Owners kept fresh over subscriptions: after every change of a real node the portfolio is the node's own within 2 s.

import { type Address, generateKeyPairSigner, type KeyPairSigner, some } from '@solana/kit'
import {
  getBurnInstruction,
  getCloseAccountInstruction,
  getFreezeAccountInstruction,
  getTransferInstruction,
} from '@solana-program/token'
import * as token2022 from '@solana-program/token-2022'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SolanaNode } from '../sandbox/src/solana-node.ts'
import { createLog } from '../src/log.ts'
import { Network } from '../src/solana/network.ts'
import type { FollowerPace } from '../src/solana/owner-follower.ts'
import type { Store } from '../src/store/store.ts'
import { type FaultProxy, startFaultProxy } from './solana-fault-proxy.ts'
import { startProgramNode } from './solana-program-node.ts'
import { type Asker, asker, openTestStore } from './solana-store.ts'
import { Wallet } from './solana-wallet.ts'

const log = createLog({ level: 'silent', format: 'json' })
const freshWithinMs = 2_000
const sweepMs = 50

// The 2 s are counted from when the change is done.
describe('over subscriptions', { timeout: 180_000 }, () => {
  let node: SolanaNode
  let proxy: FaultProxy
  let wallet: Wallet
  let store: Store
  let remove: () => Promise<void>
  let network: Network
  let ask: Asker
  let hidesCloses = false
  let slowest = 0

  const connect = (other: { subscriptionsMax?: number } = {}, pace: Partial<FollowerPace> = {}) => {
    const settings = {
      rpc: [proxy.rpcUrl],
      ws: proxy.wsUrl,
      maxAgeMs: 0,
      subscriptionsMax: 5_000,
      reconcileMs: 3_600_000,
      ...other,
    }
    const made = new Network({ network: 'devnet', settings, store, log, pace: { sweepMs, ...pace } })
    return { made, ask: asker(store, made) }
  }
  const readings = () => proxy.calls.get('getTokenAccountsByOwner') ?? 0
  /** Waits until the owner is kept fresh: with an age of 0, whatever takes no reading is fresh because of that. */
  const watched = async (owner: string) => {
    await expect
      .poll(
        async () => {
          const before = readings()
          await ask(owner)
          const { owners, live } = network.status().watched ?? {}
          return { read: readings() - before, waiting: (owners ?? 0) - (live ?? 0) }
        },
        { timeout: 20_000 },
      )
      .toEqual({ read: 0, waiting: 0 })
  }

  /** The node's own word, and ours, until they agree or time is up; without any whole reading. */
  const expectFresh = async (owner: string) => {
    const since = performance.now()
    const before = readings()
    const [wanted, lamports] = [await wallet.tokensOf(owner), await wallet.lamportsOf(owner)]
    await expect
      .poll(
        async () => {
          const answer = await ask(owner)
          const entries = [...answer.nfts, ...answer.tokens]
            .map(({ account, mint, amountRaw }) => ({ account, mint, amountRaw: String(amountRaw) }))
            .sort((a, b) => (a.account < b.account ? -1 : 1))
          return { entries, lamports: answer.lamports }
        },
        { timeout: freshWithinMs, interval: 20 },
      )
      .toEqual({ entries: wanted, lamports })
    expect(readings()).toBe(before)
    slowest = Math.max(slowest, performance.now() - since)
    return ask(owner)
  }
  const newOwner = async (): Promise<KeyPairSigner> => {
    const owner = await generateKeyPairSigner()
    await wallet.transferSol(owner.address, 1_000_000_000n)
    return owner
  }

  // A node for each story: one whose client fell silent may stop answering everyone.
  beforeEach(async () => {
    hidesCloses = false
    node = await startProgramNode({ hidesCloses: () => hidesCloses })
    proxy = await startFaultProxy(node)
    wallet = await Wallet.create(node)
    ;({ store, remove } = await openTestStore())
    ;({ made: network, ask } = connect())
  }, 120_000)
  afterAll(() => console.log(`the slowest change took ${Math.round(slowest)} ms`))
  afterEach(async () => {
    await network?.close()
    await proxy?.close()
    await node?.stop()
    await remove?.()
  }, 60_000)

  test('mint, transfer, freeze, burn, close, reopen', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    await watched(owner.address)
    await watched(other.address)
    const mint = await wallet.createMint({ decimals: 6 })
    const account = await wallet.mintTo(owner.address, mint, 5_000_000n)
    expect((await expectFresh(owner.address)).tokens).toMatchObject([{ amount: '5' }])

    const theirs = await wallet.associatedAccount(other.address, mint)
    await wallet.send(
      await wallet.createAssociated(other.address, mint),
      getTransferInstruction({ source: account, destination: theirs, authority: owner, amount: 1_500_000n }),
    )
    expect((await expectFresh(owner.address)).tokens).toMatchObject([{ amount: '3.5' }])
    expect((await expectFresh(other.address)).tokens).toMatchObject([{ amount: '1.5' }])

    await wallet.send(getFreezeAccountInstruction({ account: theirs, mint, owner: wallet.payer }))
    expect((await expectFresh(other.address)).tokens).toMatchObject([{ amount: '1.5' }])

    await wallet.send(getBurnInstruction({ account, mint, authority: owner, amount: 500_000n }))
    expect((await expectFresh(owner.address)).tokens).toMatchObject([{ amount: '3' }])

    // Two updates in one slot: both instructions of one transaction, then two transactions at once.
    await wallet.send(
      getBurnInstruction({ account, mint, authority: owner, amount: 1n }),
      getBurnInstruction({ account, mint, authority: owner, amount: 2n }),
    )
    await expectFresh(owner.address)
    await Promise.all([wallet.mintTo(owner.address, mint, 7n), wallet.mintTo(owner.address, mint, 11n)])
    await expectFresh(owner.address)

    await wallet.send(
      getBurnInstruction({ account, mint, authority: owner, amount: 3_000_015n }),
      getCloseAccountInstruction({ account, destination: owner.address, owner }),
    )
    expect((await expectFresh(owner.address)).tokens).toEqual([])

    expect(await wallet.mintTo(owner.address, mint, 9_000_000n)).toBe(account)
    expect((await expectFresh(owner.address)).tokens).toMatchObject([{ account, amount: '9' }])
  })

  test('a native balance', async () => {
    const owner = await newOwner()
    await watched(owner.address)
    await wallet.transferSol(owner.address, 123_456_789n)
    expect((await expectFresh(owner.address)).lamports).toBe(1_123_456_789n)
  })

  test('an NFT that becomes a token when its supply grows', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    const mint = await wallet.createMint({ decimals: 0 })
    await wallet.mintTo(owner.address, mint, 1n)
    await watched(owner.address)
    expect((await expectFresh(owner.address)).nfts).toHaveLength(1)
    await wallet.mintTo(other.address, mint, 1n)
    await expect.poll(async () => (await ask(owner.address)).tokens, { timeout: freshWithinMs }).toHaveLength(1)
  })

  test('a token account that is given to another owner', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    const mint = await wallet.createMint({ decimals: 2 })
    const account = await wallet.mintTo(owner.address, mint, 300n)
    await watched(owner.address)
    await watched(other.address)
    const { getSetAuthorityInstruction, AuthorityType } = await import('@solana-program/token')
    await wallet.send(
      getSetAuthorityInstruction({
        owned: account,
        owner,
        authorityType: AuthorityType.AccountOwner,
        newAuthority: some(other.address),
      }),
    )
    expect((await expectFresh(owner.address)).tokens).toEqual([])
    expect((await expectFresh(other.address)).tokens).toMatchObject([{ account, amount: '3' }])
  })

  test('Token-2022 with a name of its own', async () => {
    const owner = await newOwner()
    await watched(owner.address)
    const mint = await mintWithMetadata()
    await wallet.mintTo(owner.address, mint, 1n, 'token-2022')
    expect((await expectFresh(owner.address)).nfts).toMatchObject([
      { mint, name: 'Test Dragon', symbol: 'TDRG', amount: '1' },
    ])
  })

  test('interest and scaled amounts follow the chain’s clock', async () => {
    const owner = await newOwner()
    await watched(owner.address)
    const interest = await wallet.createMint({
      decimals: 6,
      program: 'token-2022',
      space: 222n,
      extensions: mint => [
        token2022.getInitializeInterestBearingMintInstruction({
          mint,
          rateAuthority: wallet.payer.address,
          rate: 2_623,
        }),
      ],
    })
    const scaled = await wallet.createMint({
      decimals: 4,
      program: 'token-2022',
      space: 226n,
      extensions: mint => [
        token2022.getInitializeScaledUiAmountMintInstruction({
          mint,
          authority: wallet.payer.address,
          multiplier: 1.37,
        }),
      ],
    })
    await wallet.mintTo(owner.address, interest, 123_456_789n, 'token-2022')
    await wallet.mintTo(owner.address, scaled, 987_654_321n, 'token-2022')
    const now = Math.floor(Date.now() / 1_000)
    await wallet.send(
      token2022.getUpdateMultiplierScaledUiMintInstruction({
        mint: scaled,
        authority: wallet.payer,
        multiplier: 2.5,
        effectiveTimestamp: BigInt(now + 40_000_000),
      }),
    )
    const amounts = async () =>
      Object.fromEntries((await ask(owner.address)).tokens.map(({ mint, amount }) => [mint, amount]))
    for (const moment of [now + 10_000_000, now + 50_000_000]) {
      await node.travelTo(moment)
      await expect
        .poll(
          async () => {
            const [ours, a, b] = await Promise.all([
              amounts(),
              wallet.uiAmount(interest, 123_456_789n),
              wallet.uiAmount(scaled, 987_654_321n),
            ])
            return ours[interest] === a && ours[scaled] === b
              ? 'equal'
              : { ours, program: { [interest]: a, [scaled]: b } }
          },
          { timeout: 60_000, interval: 50 },
        )
        .toBe('equal')
    }
    expect((await amounts())[interest]).not.toBe('123.456789')
  })

  test('a socket that drops: still right, and live again by itself', async () => {
    const owner = await newOwner()
    const mint = await wallet.createMint({ decimals: 6 })
    await wallet.mintTo(owner.address, mint, 1_000_000n)
    await watched(owner.address)
    const reconnects = network.status().watched?.reconnects ?? 0
    proxy.socketsDown = true
    await wallet.mintTo(owner.address, mint, 2_000_000n)
    await expect.poll(() => network.status().watched?.connected).toBe(false)
    await expect.poll(() => network.status().state).toBe('stalled')
    proxy.socketsDown = false
    await expect.poll(() => network.status().watched?.connected).toBe(true)
    await expect.poll(async () => (await ask(owner.address)).tokens[0]?.amount).toBe('3')
    expect(network.status().watched?.reconnects).toBeGreaterThan(reconnects)
    await watched(owner.address)
    await wallet.mintTo(owner.address, mint, 3_000_000n)
    expect((await expectFresh(owner.address)).tokens).toMatchObject([{ amount: '6' }])
  })

  test('a socket that stays open and says nothing is not believed', async () => {
    const owner = await newOwner()
    const mint = await wallet.createMint({ decimals: 6 })
    await wallet.mintTo(owner.address, mint, 1_000_000n)
    const impatient = connect({}, { silenceMaxMs: 4_000 })
    try {
      await impatient.ask(owner.address)
      await expect.poll(() => impatient.made.status().watched?.live).toBe(1)
      proxy.socketsSilent = true
      await wallet.mintTo(owner.address, mint, 2_000_000n)
      const seen = async () => (await impatient.ask(owner.address)).tokens[0]?.amount
      await expect.poll(seen, { timeout: 3_000 }).toBe('3')
      await expect.poll(() => impatient.made.status().state).toBe('stalled')
      proxy.socketsSilent = false
      await expect.poll(() => impatient.made.status().watched?.live).toBe(1)
    } finally {
      await impatient.made.close()
    }
  })

  test('an endpoint that fails while a notification must be checked does not leave a stale answer', async () => {
    const owner = await newOwner()
    const mint = await wallet.createMint({ decimals: 6 })
    await wallet.mintTo(owner.address, mint, 1_000_000n)
    await watched(owner.address)
    const other = await wallet.createMint({ decimals: 6 })
    proxy.fault = () => ({ kind: 'status', status: 500 })
    await wallet.mintTo(owner.address, other, 5_000_000n)
    // The new mint cannot be read: the owner is not answered for until it can.
    const answer = () =>
      ask(owner.address).then(
        ({ tokens }) => tokens.length,
        () => 'an error',
      )
    await expect.poll(answer, { timeout: 3_000 }).not.toBe(1)
    proxy.fault = undefined
    await expect.poll(answer).toBe(2)
  })

  test('the least recently asked owners leave when there are too many', async () => {
    const small = connect({ subscriptionsMax: 9 })
    try {
      const owners = await Promise.all(Array.from({ length: 5 }, newOwner))
      for (const owner of owners) await small.ask(owner.address)
      await expect.poll(() => small.made.status().watched).toMatchObject({ owners: 3, live: 3 })
      // Three owners with three subscriptions each, and two heartbeats.
      expect(small.made.status().watched?.subscriptions).toBe(11)
    } finally {
      await small.made.close()
    }
  })

  test('an owner that leaves while it is being read leaves no subscription behind', async () => {
    // Without a socket at first, so that the owner is read once and brought up when the test says so.
    proxy.socketsDown = true
    const small = connect({ subscriptionsMax: 5 })
    let letGo = () => {}
    const until = new Promise<void>(resolve => {
      letGo = resolve
    })
    try {
      const [leaving, staying] = [await newOwner(), await newOwner()]
      for (let count = 0; count < 2; count++)
        await wallet.mintTo(leaving.address, await wallet.createMint({ decimals: 6 }), 1n)
      await small.ask(leaving.address)
      let held = 0
      proxy.fault = ({ method, params }) => {
        if (method !== 'getTokenAccountsByOwner' || params[0] !== leaving.address) return undefined
        held++
        return { kind: 'held', until }
      }
      proxy.socketsDown = false
      await expect.poll(() => held).toBeGreaterThan(0)
      await small.ask(staying.address)
      await expect.poll(() => small.made.status().watched).toMatchObject({ owners: 1, live: 1 })
      letGo()
      // Its reading ends, and nothing of it is taken up: what is subscribed to is the other owner and two heartbeats.
      await expect.poll(() => small.made.status().watched?.subscriptions).toBe(5)
      await new Promise(resolve => setTimeout(resolve, 500))
      expect(small.made.status().watched).toMatchObject({ owners: 1, live: 1, subscriptions: 5 })
    } finally {
      letGo()
      await small.made.close()
    }
  })

  const lookMs = 500
  const lookOften = async () => {
    await network.close()
    ;({ made: network, ask } = connect({}, { lookMs }))
  }

  /** A wallet with a token account that is kept fresh, and what closes it. */
  async function watchedHolder(): Promise<{ owner: string; close: () => Promise<void> }> {
    const owner = await newOwner()
    const mint = await wallet.createMint({ decimals: 6 })
    const account = await wallet.mintTo(owner.address, mint, 5_000_000n)
    await watched(owner.address)
    const close = () =>
      wallet.send(
        getBurnInstruction({ account, mint, authority: owner, amount: 5_000_000n }),
        getCloseAccountInstruction({ account, destination: owner.address, owner }),
      )
    return { owner: owner.address, close: async () => void (await close()) }
  }
  const looks = () => proxy.calls.get('getMultipleAccounts') ?? 0

  const pause = () => new Promise(resolve => setTimeout(resolve, 50))

  test('a closed account that the node does not tell of leaves within seconds, and calls that fail harm nothing', async () => {
    hidesCloses = true
    await lookOften()
    const { owner, close } = await watchedHolder()
    const [before, failed] = [readings(), looks()]
    await close()
    proxy.fault = () => ({ kind: 'status', status: 500 })
    // What is known goes on to be answered.
    for (; looks() === failed; await pause()) expect((await ask(owner)).tokens).toHaveLength(1)
    expect((await ask(owner)).tokens).toHaveLength(1)
    proxy.fault = undefined
    await expect.poll(async () => (await ask(owner)).tokens, { timeout: 30_000 }).toEqual([])
    expect(readings()).toBe(before)
  })

  test('a wallet that is asked for all the time costs a call every few seconds, one for all who ask', async () => {
    hidesCloses = true
    await lookOften()
    const { owner } = await watchedHolder()
    const since = performance.now()
    const calls = () => [...proxy.calls.values()].reduce((sum, count) => sum + count, 0)
    const before = calls()
    let asked = 0
    for (; calls() < before + 3 || asked < 150; await pause()) {
      await Promise.all(Array.from({ length: 10 }, () => ask(owner)))
      asked += 10
    }
    const intervals = (performance.now() - since) / lookMs
    console.log(`${asked} requests in ${intervals.toFixed(1)} intervals took ${calls() - before} calls`)
    expect(calls() - before).toBeLessThanOrEqual(1 + intervals)
  })

  test('where closes are told, nothing is looked at again', async () => {
    await lookOften()
    const { owner, close } = await watchedHolder()
    const { owner: other } = await watchedHolder()
    await close()
    await expectFresh(owner)
    const before = looks()
    for (const until = performance.now() + 3 * lookMs; performance.now() < until; await pause()) await ask(other)
    expect(looks()).toBe(before)
  })

  async function mintWithMetadata(): Promise<Address> {
    const metadata = {
      updateAuthority: some(wallet.payer.address),
      name: 'Test Dragon',
      symbol: 'TDRG',
      uri: 'https://example.org/1.json',
    }
    return wallet.createMint({
      decimals: 0,
      program: 'token-2022',
      space: 234n,
      extensions: mint => [
        token2022.getInitializeMetadataPointerInstruction({
          mint,
          authority: wallet.payer.address,
          metadataAddress: mint,
        }),
      ],
      afterwards: mint => [
        token2022.getInitializeTokenMetadataInstruction({
          metadata: mint,
          updateAuthority: wallet.payer.address,
          mint,
          mintAuthority: wallet.payer,
          name: metadata.name,
          symbol: metadata.symbol,
          uri: metadata.uri,
        }),
      ],
    })
  }
})
