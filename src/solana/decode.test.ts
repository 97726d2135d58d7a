import { getMetadataAccountDataSerializer, type MetadataAccountDataArgs } from '@metaplex-foundation/mpl-token-metadata'
import { base58 } from '@scure/base'
import { type Address, none, some } from '@solana/kit'
import { getTokenDecoder, getTokenEncoder } from '@solana-program/token'
import {
  extension,
  getMintDecoder,
  getMintEncoder,
  getTokenDecoder as getToken2022Decoder,
} from '@solana-program/token-2022'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { solanaAccount } from '../../test/recordings.ts'
import { propertyRuns } from '../../test/release-runs.ts'
import {
  decodeClock,
  decodeMetadata,
  decodeMetadataDetails,
  decodeMint,
  decodeMintAuthority,
  decodeTokenAccount,
} from './decode.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const address = (bytes: Uint8Array) => base58.encode(bytes) as Address

describe('token accounts', () => {
  test('read as the official codec wrote them', () => {
    fc.assert(
      fc.property(key, key, u64, fc.constantFrom(1, 2), (mint, owner, amount, state) => {
        const data = getTokenEncoder().encode({
          mint: address(mint),
          owner: address(owner),
          amount,
          delegate: none(),
          state,
          isNative: none(),
          delegatedAmount: 0n,
          closeAuthority: none(),
        }) as Uint8Array
        expect(decodeTokenAccount(data)).toEqual({ mint, owner, amount, frozen: state === 2 })
      }),
    )
  })

  test('are refused where state, length or account type say that they are none', () => {
    const data = new Uint8Array(165)
    expect(decodeTokenAccount(data)).toBeUndefined()
    data[108] = 3
    expect(decodeTokenAccount(data)).toBeUndefined()
    data[108] = 1
    expect(decodeTokenAccount(data)).toBeDefined()
    for (const length of [0, 82, 164]) expect(decodeTokenAccount(data.subarray(0, length))).toBeUndefined()
    const extended = new Uint8Array(400)
    extended.set(data)
    extended[165] = 1
    expect(decodeTokenAccount(extended)).toBeUndefined()
    extended[165] = 2
    expect(decodeTokenAccount(extended)).toBeDefined()
    expect(decodeTokenAccount(extended.subarray(0, 355))).toBeUndefined()
  })

  test('agree with the official decoder on whatever it accepts', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 165, maxLength: 165 }), fc.nat(3), (data, state) => {
        data[108] = state
        const decoded = decodeTokenAccount(data)
        const official = attempt(() => getTokenDecoder().decode(data))
        if (official === undefined || official.state === 0)
          expect(official?.state ?? decoded).toBe(official ? 0 : decoded)
        else expect(decoded?.amount).toBe(official.amount)
      }),
    )
  })
})

describe('mints', () => {
  test('read as the official codec wrote them, extensions included', () => {
    fc.assert(
      fc.property(
        fc.record({
          supply: u64,
          decimals: fc.nat(255),
          name: fc.string({ maxLength: 40, unit: 'grapheme' }).filter(text => !text.includes('\0')),
          symbol: fc.string({ maxLength: 12 }).filter(text => !text.includes('\0')),
          rate: fc.integer({ min: -32_768, max: 32_767 }),
          moment: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
          multiplier: fc.double({ noNaN: true }).map(value => value + 0),
          kind: fc.constantFrom('interest', 'scaled', 'none'),
          mint: key,
        }),
        ({ supply, decimals, name, symbol, rate, moment, multiplier, kind, mint }) => {
          const ruleExtension =
            kind === 'interest'
              ? extension('InterestBearingConfig', {
                  rateAuthority: address(mint),
                  initializationTimestamp: moment,
                  preUpdateAverageRate: rate,
                  lastUpdateTimestamp: moment,
                  currentRate: rate,
                })
              : extension('ScaledUiAmountConfig', {
                  authority: address(mint),
                  multiplier,
                  newMultiplierEffectiveTimestamp: moment,
                  newMultiplier: multiplier,
                })
          const data = getMintEncoder().encode({
            mintAuthority: none(),
            supply,
            decimals,
            isInitialized: true,
            freezeAuthority: none(),
            extensions: some([
              extension('ImmutableOwner', {}),
              ...(kind === 'none' ? [] : [ruleExtension]),
              extension('TokenMetadata', {
                updateAuthority: none(),
                mint: address(mint),
                name,
                symbol,
                uri: 'https://example.org',
                additionalMetadata: new Map([['a', 'b']]),
              }),
            ]),
          }) as Uint8Array
          // The program never makes an account of a multisig's length; it pads it by two bytes.
          fc.pre(data.length !== 355)
          const sign = Object.is(multiplier, -0) ? 0 : multiplier
          const rule = {
            interest: `interest ${moment} ${rate} ${moment} ${rate}`,
            scaled: `scaled ${sign} ${moment} ${sign}`,
            none: undefined,
          }[kind]
          expect(decodeMint(data)).toEqual({
            supply,
            decimals,
            amountRule: rule,
            metadataAddress: undefined,
            metadata: { name, symbol },
          })
        },
      ),
    )
  })

  test('that were not initialised, or are no mints, are refused', () => {
    const data = new Uint8Array(82)
    expect(decodeMint(data)).toBeUndefined()
    data[45] = 1
    expect(decodeMint(data)).toBeDefined()
    expect(decodeMint(data.subarray(0, 81))).toBeUndefined()
    expect(decodeMint(new Uint8Array(165).fill(1))).toBeUndefined()
  })
})

describe('odd bytes', () => {
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 1_200 }),
    // Valid beginnings, so that the generator gets past the first checks.
    fc.tuple(fc.constantFrom(1, 2, 4), fc.uint8Array({ minLength: 166, maxLength: 1_200 })).map(([mark, data]) => {
      data[45] = 1
      data[108] = 1
      data[165] = mark
      data[0] = 4
      return data
    }),
    // Every extension type and length there can be, in a row.
    fc.array(fc.tuple(fc.nat(30), fc.nat(200)), { maxLength: 30 }).map(entries => {
      const data = new Uint8Array(166 + 4 * entries.length)
      data[45] = 1
      data[165] = 1
      for (const [index, [type, length]] of entries.entries()) data.set([type, 0, length, length], 166 + 4 * index)
      return data
    }),
  )

  test('never throw and never loop', () => {
    fc.assert(
      fc.property(hostile, data => {
        decodeTokenAccount(data)
        decodeMint(data)
        decodeMetadata(data)
        decodeClock(data)
      }),
      { numRuns: propertyRuns(5_000), interruptAfterTimeLimit: 20_000, markInterruptAsFailure: true },
    )
  })

  test('a string length beyond the account is not a string', () => {
    const data = new Uint8Array(679)
    data[0] = 4
    data.set([255, 255, 255, 255], 65)
    expect(decodeMetadata(data)).toBeUndefined()
  })
})

describe('Metaplex metadata', () => {
  const string = (text: string, room: number) => {
    const bytes = Buffer.alloc(4 + room)
    bytes.writeUInt32LE(room)
    bytes.write(text, 4)
    return bytes
  }
  const account = (tail: readonly number[]) =>
    new Uint8Array(
      Buffer.concat([
        Buffer.from([4]),
        Buffer.alloc(32, 1),
        Buffer.alloc(32, 2),
        string('Årø', 32),
        string('ÅR', 10),
        string('https://example.org', 200),
        Buffer.from([0, 0]),
        Buffer.from([1, 1, 0, 0, 0]),
        Buffer.alloc(34, 3),
        Buffer.from(tail),
        Buffer.alloc(100),
      ]),
    )
  const collection = [1, 1, ...Array(32).fill(7)]

  test.each([
    ['a standard and a collection', [1, 1, 1, 255, 1, 4, ...collection, 0], 4],
    ['uses', [0, 0, 0, 1, 0, 0, 1, 2, ...Array(16).fill(9)], 0],
    ['no standard', [0, 0, 0, 0, 0, 0], undefined],
    ['a standard that does not exist', [0, 0, 0, 1, 6, 0, 0], undefined],
    ['a good standard before a corrupted collection', [0, 0, 0, 1, 0, 7], undefined],
    ['a good standard before corrupted uses', [0, 0, 0, 1, 0, 0, 1, 9], undefined],
    ['a corrupted flag', [9, 0, 0, 1, 0, 0, 0], undefined],
  ])('with %s', (_, tail, tokenStandard) => {
    expect(decodeMetadata(account(tail))).toEqual({
      mint: new Uint8Array(32).fill(2),
      name: 'Årø',
      symbol: 'ÅR',
      tokenStandard,
    })
  })

  const text = (bytesMax: number) =>
    fc.string({ unit: 'grapheme', maxLength: bytesMax }).filter(value => {
      return Buffer.byteLength(value) <= bytesMax && !value.includes('\0')
    })
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
  const publicKeyOf = key.map(bytes => base58.encode(bytes) as MetadataAccountDataArgs['mint'])
  const written = fc
    .record({
      updateAuthority: publicKeyOf,
      mint: publicKeyOf,
      name: text(32),
      symbol: text(10),
      uri: text(200),
      sellerFeeBasisPoints: fc.nat(65_535),
      creators: optional(
        fc.array(fc.record({ address: publicKeyOf, verified: fc.boolean(), share: fc.nat(100) }), { maxLength: 5 }),
      ),
      primarySaleHappened: fc.boolean(),
      isMutable: fc.boolean(),
      editionNonce: optional(fc.nat(255)),
      tokenStandard: optional(fc.nat(5)),
      collection: optional(fc.record({ verified: fc.boolean(), key: publicKeyOf })),
      uses: optional(fc.record({ useMethod: fc.nat(2), remaining: u64, total: u64 })),
      collectionDetails: optional(fc.record({ __kind: fc.constant('V1' as const), size: u64 })),
      programmableConfig: optional(
        fc.record({ __kind: fc.constant('V1' as const), ruleSet: fc.option(publicKeyOf, { nil: null }) }),
      ),
    })
    .map(fields => ({ fields, data: getMetadataAccountDataSerializer().serialize(fields) }))

  test('reads as the official codec wrote it, padded or not', () => {
    fc.assert(
      fc.property(written, fc.boolean(), ({ fields, data }, isPadded) => {
        const pad = (value: string, bytes: number) => value + '\0'.repeat(bytes - Buffer.byteLength(value))
        const padded = { ...fields, name: pad(fields.name, 32), symbol: pad(fields.symbol, 10) }
        const account = isPadded
          ? Buffer.concat([getMetadataAccountDataSerializer().serialize(padded), Buffer.alloc(80)])
          : data
        expect(decodeMetadata(new Uint8Array(account))).toEqual({
          mint: base58.decode(fields.mint),
          name: fields.name,
          symbol: fields.symbol,
          tokenStandard: fields.tokenStandard ?? undefined,
        })
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })

  // The codec takes a missing tail for absent options; the program drops standard, collection and uses together then.
  test('cut anywhere has the names that the official codec still reads', () => {
    fc.assert(
      fc.property(written, fc.nat(), ({ data }, length) => {
        const cut = data.subarray(0, length % (data.length + 1))
        const official = attempt(() => getMetadataAccountDataSerializer().deserialize(cut)[0])
        if (official === undefined) return
        expect(decodeMetadata(cut)).toMatchObject({ name: official.name, symbol: official.symbol })
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  test('cut anywhere in its tail keeps its names', () => {
    const whole = account([0, 0, 0, 1, 4, ...collection, 0])
    const end = whole.length - 100
    for (let length = end - 40; length < end; length++)
      expect(decodeMetadata(whole.subarray(0, length))).toMatchObject({ name: 'Årø', tokenStandard: undefined })
    expect(decodeMetadata(whole.subarray(0, end))).toMatchObject({ tokenStandard: 4 })
  })
})

describe('accounts recorded on mainnet', () => {
  test.each([
    ['usdc-mint', 6, 3688102136626265n, undefined],
    ['jitosol-mint', 9, 12585937222711072n, undefined],
    ['pyusd-mint', 6, 168620476682610n, { name: 'PayPal USD', symbol: 'PYUSD' }],
    ['susd-mint', 6, 1773140220594n, { name: 'Solayer USD', symbol: 'sUSD' }],
    ['bern-mint', 5, 94911678592440n, undefined],
    ['madlads-9963-mint', 0, 1n, undefined],
    ['silurian-edition-mint', 0, 1n, undefined],
    ['bndrg-mint', 0, 1n, { name: 'Banana Dragon #2', symbol: 'BNDRG' }],
  ])('%s', (name, decimals, supply, metadata) => {
    const { data } = solanaAccount(name)
    const mint = decodeMint(data)
    expect(mint).toMatchObject({ decimals, supply })
    expect(mint?.metadata).toEqual(metadata)
    expect(getMintDecoder().decode(data)).toMatchObject({ decimals, supply })
  })

  test('susd-mint bears interest', () => {
    const mint = decodeMint(solanaAccount('susd-mint').data)
    expect(mint?.amountRule).toBe('interest 1727476198 741 1782139606 2623')
  })

  test.each(['pyusd-mint', 'susd-mint', 'bndrg-mint'])('%s points to itself', name => {
    const { key, data } = solanaAccount(name)
    expect(decodeMint(data)?.metadataAddress).toEqual(key)
  })

  test.each([
    ['usdc-metadata', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'USD Coin', 'USDC', undefined],
    ['jitosol-metadata', 'J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn', 'Jito Staked SOL', 'JitoSOL', 2],
    ['madlads-9963-metadata', '5rEeYv8R25b8j6YTHJvYuCKEzq44UCw1Wx1Wx2VPPLz1', 'Mad Lads #9963', 'MAD', 4],
    ['silurian-edition-metadata', '9yQecKKYSHxez7fFjJkUvkz42TLmkoXzhyZxEf2pw8pz', 'Silurian Period', '', 3],
  ])('%s', (file, mint, name, symbol, tokenStandard) => {
    const { data } = solanaAccount(file)
    expect(decodeMetadata(data)).toEqual({ mint: base58.decode(mint), name, symbol, tokenStandard })
  })

  test.each(['usdc-metadata', 'jitosol-metadata', 'madlads-9963-metadata', 'silurian-edition-metadata'])(
    '%s is what the official codec says',
    file => {
      const { data } = solanaAccount(file)
      const official = getMetadataAccountDataSerializer().deserialize(data)[0]
      expect(decodeMetadata(data)).toEqual({
        mint: base58.decode(official.mint),
        name: official.name.replace(/\0+$/, ''),
        symbol: official.symbol.replace(/\0+$/, ''),
        tokenStandard: official.tokenStandard.__option === 'Some' ? official.tokenStandard.value : undefined,
      })
      expect(decodeMetadataDetails(data)).toEqual({
        updateAuthority: base58.decode(official.updateAuthority),
        uri: official.uri.replace(/\0+$/, ''),
        sellerFeeBasisPoints: official.sellerFeeBasisPoints,
        primarySaleHappened: official.primarySaleHappened,
        isMutable: official.isMutable,
      })
    },
  )

  test('details of metadata that breaks off are empty, and reading them ends', () => {
    const { data } = solanaAccount('madlads-9963-metadata')
    for (let end = 65; end < 400; end++)
      expect(decodeMetadataDetails(data.subarray(0, end)).updateAuthority).toHaveLength(32)
    const { uri, sellerFeeBasisPoints, isMutable } = decodeMetadataDetails(data.subarray(0, 150))
    expect({ uri, sellerFeeBasisPoints, isMutable }).toEqual({ uri: '', sellerFeeBasisPoints: 0, isMutable: false })
  })

  test.each(['usdc-mint', 'pyusd-mint', 'madlads-9963-mint', 'silurian-edition-mint'])(
    '%s: who may mint more',
    name => {
      const { data } = solanaAccount(name)
      const official = getMintDecoder().decode(data).mintAuthority
      const authority = decodeMintAuthority(data)
      expect(authority && base58.encode(authority)).toBe(official.__option === 'Some' ? official.value : undefined)
    },
  )

  test.each([
    ['madlads-9963-token-account', '3H3d3hfpZVVdVwuFAxDtDSFN2AdR7kwiDA3ynbnbkhc9', 1n, true],
    ['wsol-token-account', '5tvSJRH4BUgJD3sR83Exnn13Zi524Dzo48GB4QaiFu9H', 86840850n, false],
  ])('%s', (name, owner, amount, frozen) => {
    const { data } = solanaAccount(name)
    expect(decodeTokenAccount(data)).toMatchObject({ owner: base58.decode(owner), amount, frozen })
    expect(getToken2022Decoder().decode(data)).toMatchObject({ owner, amount })
  })
})

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
