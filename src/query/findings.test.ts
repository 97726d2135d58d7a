import { expect, test } from 'vitest'
import { judge, type KnownService } from './findings.ts'

type Chain = KnownService['chains'][string]
const well: Chain = { state: 'live', eta_seconds: null, rpc: [{ endpoint: 'a', healthy: true }], covered: [] }
const era = { kind: 'files', name: './era', state: 'ready', blocks: 1, refused: [] } as const
const api = { errors_per_second: 0, error_share: 0, keys: [] }

function serviceWith(parts: Partial<KnownService> = {}, chain: Partial<Chain> = {}): KnownService {
  return {
    ...{ problems: [], solana: {}, api, store: { full_in_seconds: null } },
    chains: { eth: { ...well, ...chain } },
    ...parts,
  }
}

const findingsOf = (service: KnownService) => judge(service).findings
const texts = (service: KnownService) => findingsOf(service).map(({ tone, text }) => `${tone}: ${text}`)

test('a service that is well says so, and what it does', () => {
  const normal = { tone: 'good', text: 'All systems normal' }
  expect(judge(serviceWith())).toEqual({ verdict: { ...normal, detail: '1 of 1 chain live' }, findings: [] })
  const detail = '0 of 1 chain live, 1 fills history, ETA 12 min'
  expect(judge(serviceWith({}, { state: 'backfilling', eta_seconds: 720 })).verdict).toEqual({ ...normal, detail })
})

test('the verdict is the worst of what is wrong, with its reason or else the state of the chains', () => {
  const stalled = serviceWith({}, { state: 'stalled', reason: 'ECONNREFUSED' })
  expect(judge(stalled).verdict).toEqual({ tone: 'bad', text: 'eth is stalled', detail: 'ECONNREFUSED' })
  const failing = serviceWith({}, { rpc: [{ endpoint: 'b', healthy: false }] })
  const text = 'The only endpoint of eth fails'
  expect(judge(failing).verdict).toEqual({ tone: 'warn', text, detail: '1 of 1 chain live' })
})

test.each<[what: string, found: string, service: KnownService]>([
  ['a stalled chain', 'bad: eth is stalled', serviceWith({}, { state: 'stalled', reason: 'ECONNREFUSED' })],
  [
    'a node that imports no blocks',
    'bad: The newest block of eth is 10 min old',
    serviceWith({}, { head_old: true, head_age_seconds: 600 }),
  ],
  [
    'a disputed chain',
    'bad: The endpoints of eth disagree on a block that should be final',
    serviceWith({}, { state: 'disputed' }),
  ],
  [
    'a chain that lags',
    'bad: eth is behind',
    serviceWith({ problems: [{ problem: 'chain_behind', chain: 'eth', reason: 'It is 900 s behind.' }] }),
  ],
  [
    'one endpoint of two',
    'warn: 1 of 2 endpoints of eth fails',
    serviceWith({}, { rpc: [...well.rpc, { endpoint: 'b', healthy: false, reason: 'serves chain 137, not 1' }] }),
  ],
  [
    'an endpoint of another chain beside a right one',
    'warn: 1 of 2 endpoints of eth serves another chain',
    serviceWith(
      { problems: [{ problem: 'wrong_chain', chain: 'eth', reason: '1 of its 2 endpoints serves another chain.' }] },
      { rpc: [...well.rpc, { endpoint: 'b', healthy: true, wrong_chain: true }] },
    ),
  ],
  [
    'an endpoint of another chain alone',
    'bad: The only endpoint of eth serves another chain',
    serviceWith({}, { state: 'stalled', rpc: [{ endpoint: 'b', healthy: false, wrong_chain: true }] }),
  ],
  [
    'the only endpoint',
    'warn: The only endpoint of eth fails',
    serviceWith({}, { rpc: [{ endpoint: 'b', healthy: false }] }),
  ],
  [
    'a refused file',
    'warn: A part of eth’s history in ./era is refused',
    serviceWith(
      {},
      {
        sources: [{ ...era, refused: [{ name: '1.era', reason: 'wrong root' }] }],
      },
    ),
  ],
  [
    'a source that failed',
    'warn: The source ./era of eth is failed',
    serviceWith({}, { sources: [{ ...era, state: 'failed', reason: 'none of its 3 files can be used' }] }),
  ],
  [
    'an archive that nothing connects',
    'warn: Nothing connects 6 blocks of eth up to 9 to the chain',
    serviceWith(
      {},
      { rpc: [], sources: [era], covered: [{ from: 4, to: 9, evidence: 'one-endpoint', scope: 'transfers' as never }] },
    ),
  ],
  [
    'a fork that is not known yet',
    'warn: eth has header fields of a later fork (lanes, twice)',
    serviceWith({}, { new_header_fields: ['lanes', 'twice'] }),
  ],
  [
    'old blocks that no endpoint has',
    'warn: Blocks of eth are out of reach',
    serviceWith({}, { state: 'backfilling', reason: 'No eth endpoint has blocks below 120.' }),
  ],
  [
    'a full disk',
    'bad: The disk is full',
    serviceWith({ problems: [{ problem: 'store_full', reason: 'The disk is full.' }] }),
  ],
  ['a disk that fills', 'warn: The store is full in 2 d', serviceWith({ store: { full_in_seconds: 172_800 } })],
  ['a disk that is nearly full', 'bad: The store is full in 1 h', serviceWith({ store: { full_in_seconds: 3_600 } })],
  [
    'failing requests',
    'bad: 5% of requests fail',
    serviceWith({ api: { ...api, errors_per_second: 0.5, error_share: 0.05 } }),
  ],
  [
    'a key near its quota',
    'warn: Key shop has used 95% of its quota',
    serviceWith({
      api: {
        ...api,
        keys: [{ id: 'k', name: 'shop', today: 95, quota_per_day: 100 }],
      },
    }),
  ],
  [
    'a Solana network',
    'bad: Solana devnet is stalled',
    serviceWith({
      solana: { devnet: { state: 'stalled', slot: 1, lag_seconds: 70, rpc: [{ endpoint: 'a', healthy: false }] } },
    }),
  ],
])('%s is named', (_, found, service) => {
  expect(texts(service)).toEqual([found])
})

test('the worst comes first, with its reason and what it is about', () => {
  const service = serviceWith({
    chains: {
      base: { ...well, rpc: [...well.rpc, { endpoint: 'b', healthy: false, reason: 'ETIMEDOUT' }] },
      eth: { ...well, state: 'stalled', reason: 'ECONNREFUSED' },
    },
    store: { full_in_seconds: 172_800 },
  })
  expect(findingsOf(service)).toEqual([
    { tone: 'bad', chain: 'eth', text: 'eth is stalled', detail: 'ECONNREFUSED' },
    { tone: 'warn', chain: 'base', text: '1 of 2 endpoints of base fails', detail: 'b: ETIMEDOUT' },
    {
      tone: 'warn',
      text: 'The store is full in 2 d',
      detail: 'Add disk, raise limits.store_bytes_max, or index less.',
    },
  ])
})

test('a full store says once what to do, for all chains', () => {
  const full: Chain = { ...well, state: 'store_full', reason: 'No space left. Try: add disk.' }
  const problems: KnownService['problems'] = [{ problem: 'store_full', reason: 'The disk of the store is full.' }]
  expect(
    findingsOf(serviceWith({ chains: { eth: full, base: full }, problems, store: { full_in_seconds: 0 } })),
  ).toEqual([{ tone: 'bad', text: 'The disk of the store is full', detail: 'Add disk.' }])
})

test('each endpoint says why it fails, unless the reason of its chain did', () => {
  const rpc = [
    { endpoint: 'a', healthy: false, reason: 'eth endpoint a did not answer eth_chainId: ECONNREFUSED' },
    { endpoint: 'b', healthy: false, fault: 'ETIMEDOUT' },
    { endpoint: 'c', healthy: false },
  ]
  const told = { state: 'stalled', reason: rpc[0]!.reason! } as const
  const all = { tone: 'warn', chain: 'eth', text: '3 of 3 endpoints of eth fail' } as const
  expect(findingsOf(serviceWith({}, { rpc }))).toEqual([{ ...all, detail: `${rpc[0]!.reason}; b: ETIMEDOUT` }])
  expect(findingsOf(serviceWith({}, { ...told, rpc }))).toEqual([
    { tone: 'bad', chain: 'eth', text: 'eth is stalled', detail: told.reason },
    { ...all, detail: 'b: ETIMEDOUT' },
  ])
  expect(texts(serviceWith({}, { ...told, rpc: rpc.slice(0, 1) }))).toEqual(['bad: eth is stalled'])
})

test('a source names three of the parts that it refuses, with their blocks', () => {
  const refused = [...'12345'].map(at => ({ name: `${at}.era`, block: Number(at), reason: 'wrong root' }))
  const [found] = findingsOf(serviceWith({}, { sources: [{ ...era, refused }] }))
  expect(found).toMatchObject({
    text: '5 parts of eth’s history in ./era are refused',
    detail: '1.era, block 1: wrong root; 2.era, block 2: wrong root; 3.era, block 3: wrong root; 2 more',
  })
})

test('a single failed answer among few is no alarm', () => {
  expect(texts(serviceWith({ api: { ...api, errors_per_second: 0.02, error_share: 0.2 } }))).toEqual([])
})
