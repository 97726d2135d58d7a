import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { propertyRuns } from '../../test/release-runs.ts'
import { builtInChains } from '../chains.ts'
import { AlmanacError, describeError } from '../errors.ts'
import { type LoadOptions, loadConfig } from './load.ts'
import { shownConfig } from './problems.ts'

const directory = mkdtempSync(join(tmpdir(), 'almanac-config-'))
const file = join(directory, 'almanac.yaml')
afterAll(() => rmSync(directory, { recursive: true }))

function load(text: string, options: LoadOptions = {}) {
  writeFileSync(file, text)
  return loadConfig({ ...options, file })
}

/** The message and what to try, without the directory of the test. */
function refusal(text: string, options: LoadOptions = {}): string {
  try {
    load(text, options)
  } catch (error) {
    expect(error).toBeInstanceOf(AlmanacError)
    expect((error as AlmanacError).code).toBe('config_invalid')
    return describeError(error).replace('Error: ', '').replaceAll(`${directory}/`, '')
  }
  throw new Error('The configuration was accepted.')
}

describe('what a configuration means', () => {
  test('the example of the manual', () => {
    const { config, chains } = load(`
listen: 127.0.0.1:8080
store: file:./almanac.db
chains:
  eth:     { rpc: [http://127.0.0.1:8545], index: full, from: 0 }
  polygon: { rpc: [https://a, https://b], contracts: [0xBC4CA0EdA7647A8aB7C2061c2E118A18a936f13D], from: 0 }
  0xa86a:  { rpc: https://c }
  base:    { rpc: https://d, id: 0x2105, finality: 64 }
solana:
  mainnet: { rpc: [http://127.0.0.1:8899], ws: ws://127.0.0.1:8900 }
`)
    expect(config.chains.eth).toMatchObject({ rpc: ['http://127.0.0.1:8545'], index: 'full', from: 0 })
    expect(config.chains.polygon).toMatchObject({
      index: 'on-demand',
      contracts: ['0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'],
    })
    expect(config.chains.avalanche?.rpc).toEqual(['https://c'])
    expect(config.chains.base).toMatchObject({ id: 8453, finality: 64 })
    expect(chains.parse('0x2105')?.name).toBe('base')
    expect(chains.all).toHaveLength(builtInChains.length + 1)
    expect(config.solana.mainnet).toMatchObject({ rpc: ['http://127.0.0.1:8899'], ws: 'ws://127.0.0.1:8900' })
    expect(config.solana.devnet).toBeUndefined()
  })

  test.each(['base', 'Base', '8453', '0x2105', '0x002105'])('%s is the chain base, and needs no id', key => {
    const { config, chains } = load(`chains: { ${key}: { rpc: http://a } }`)
    expect(Object.keys(config.chains)).toEqual(['base'])
    expect(chains.parse('8453')).toMatchObject({ name: 'base', id: 8453, hexId: '0x2105', blockTimeMs: 2_000 })
    expect(chains.added.map(({ name }) => name)).toEqual(['base'])
  })

  test('an id that no chain of the table has is the name of its chain, and one of the table may be called otherwise', () => {
    const { config, chains } = load('chains: { 777: { rpc: http://a }, ours: { rpc: http://b, id: 10 } }')
    expect(Object.keys(config.chains)).toEqual(['777', 'ours'])
    expect(chains.parse('0x309')).toMatchObject({ name: '777', id: 777 })
    expect(chains.parse('0xa')).toMatchObject({ name: 'ours', id: 10 })
    expect(refusal('chains: { base: { rpc: http://a }, 0x2105: { rpc: http://b } }')).toContain(
      'chains.0x2105 is base, which is configured already.',
    )
  })

  test('requests accept the chains of the reference and the configured ones alone', () => {
    const { chains } = load('chains: { base: { rpc: http://a } }')
    expect(chains.parse('base')).toBeDefined()
    expect(chains.parse('optimism')).toBeUndefined()
    expect(chains.parse('10')).toBeUndefined()
    expect(chains.all).toHaveLength(13)
  })

  test('a chain keeps every view, or those that are named, and transfers always', () => {
    const viewsOf = (text: string, environment = {}) =>
      load(`chains: { eth: { rpc: http://a, ${text} } }`, { environment }).config.chains.eth?.views
    expect(viewsOf('index: full')).toBeUndefined()
    expect(viewsOf('views: [transfers]')).toEqual(['transfers'])
    expect(viewsOf('views: []')).toEqual(['transfers'])
    expect(viewsOf('views: [activity]')).toEqual(['transfers', 'activity'])
    expect(viewsOf('views: [by_block, by_token]')).toEqual(['transfers', 'by_token', 'by_block'])
    expect(viewsOf('index: full', { ALMANAC_CHAINS_ETH_VIEWS: 'transfers' })).toEqual(['transfers'])
  })

  test('a chain may have files or a portal, with a node or as an archive', () => {
    const hash = `0x${'ab'.repeat(32)}`
    const { eth, bsc } = load(`
chains:
  eth: { history: ./files, index: full, anchor: "${hash.toUpperCase().replace('X', 'x')}", history_summaries: [a.ssz, http://b] }
  bsc: { rpc: http://c, index: full, portal: https://portal.example/datasets/bsc }
`).config.chains
    expect(eth).toMatchObject({ rpc: [], history: ['./files'], anchor: hash, historySummaries: ['a.ssz', 'http://b'] })
    expect(bsc).toMatchObject({ rpc: ['http://c'], portal: 'https://portal.example/datasets/bsc' })
  })

  test('an unquoted 0x is text at every length, a number a number', () => {
    for (const contract of ['0x0000000000000000000000000000000000000001', `0x${'9'.repeat(40)}`]) {
      expect(load(`chains: { eth: { rpc: http://a, contracts: [${contract}] } }`).config.chains.eth?.contracts).toEqual(
        [contract],
      )
    }
    expect(load('chains: { eth: { rpc: http://a, from: 12345678 } }').config.chains.eth?.from).toBe(12_345_678)
  })

  test('flags win over the environment, the environment over the file, the file over the default', () => {
    const text = 'listen: :1\ndialect: live\nlog: { level: warn }\n'
    const environment = { ALMANAC_LISTEN: ':2', ALMANAC_LOG_LEVEL: 'error' }
    const { config } = load(text, { environment, flags: new Map([['listen', ':3']]) })
    expect(config).toMatchObject({ listen: ':3', dialect: 'live', log: { level: 'error', format: 'auto' } })
  })

  test('every setting can be given in the environment', () => {
    const { config, warnings } = load('chains: { eth: { rpc: http://a, from: 5 } }', {
      environment: {
        ALMANAC_OPS_OPEN: 'true',
        ALMANAC_LIMITS_PAGE_SIZE_MAX: '50',
        ALMANAC_CORS_ORIGINS: 'https://a.example, https://b.example',
        ALMANAC_CHAINS_ETH_RPC: 'http://b,http://c',
        ALMANAC_CHAINS_BSC_TESTNET_REQUESTS_PER_SECOND: '2.5',
        ALMANAC_CHAINS_BSC_TESTNET_RPC: 'http://d',
        ALMANAC_CHAINS_BASE_ID: '0x2105',
        ALMANAC_CHAINS_BASE_RPC: 'http://e',
        ALMANAC_SOLANA_DEVNET_RPC: 'http://f',
        ALMANAC_LISTEN: '',
        ALMANAC_KEY: 'not-a-setting',
      },
    })
    expect(config).toMatchObject({ opsOpen: true, listen: '127.0.0.1:8080', limits: { pageSizeMax: 50 } })
    expect(config.cors.origins).toEqual(['https://a.example', 'https://b.example'])
    expect(config.chains.eth).toMatchObject({ rpc: ['http://b', 'http://c'], from: 5 })
    expect(config.chains['bsc testnet']).toMatchObject({ rpc: ['http://d'], requestsPerSecond: 2.5 })
    expect(config.chains.base).toMatchObject({ id: 8453, rpc: ['http://e'] })
    expect(config.solana.devnet?.rpc).toEqual(['http://f'])
    expect(warnings).toEqual([])
  })

  test('an unknown variable is reported, not refused: orchestrators set some of their own', () => {
    const { warnings } = load('{}', { environment: { ALMANAC_LOGLEVEL: 'x', ALMANAC_PORT_8080_TCP_ADDR: 'x' } })
    expect(warnings[0]).toEqual({
      text: 'The environment variable ALMANAC_LOGLEVEL is not a setting and was ignored. Did you mean ALMANAC_LOG_LEVEL?',
      event: 'Environment variable ignored',
      facts: { variable: 'ALMANAC_LOGLEVEL', nearest: 'ALMANAC_LOG_LEVEL' },
    })
    expect(warnings).toHaveLength(2)
  })

  test('an empty file and empty sections are the default', () => {
    const expected = load('{}').config
    expect(load('').config).toEqual(expected)
    expect(load('chains:\nsolana:\nlimits:\nlog:\n').config).toEqual(expected)
  })
})

describe('what is refused, and in which words', () => {
  const settings =
    'listen, solana_listen, store, store_read, dialect, ops_open, chains, solana, limits, changes, webhooks, metadata, cors and log'
  test.each<[text: string, message: string]>([
    ['lisen: :80', 'almanac.yaml:1:1: unknown key lisen.\nTry:   did you mean listen?'],
    [
      'chains:\n  eth:\n    rpc: http://a\n    form: 3',
      'almanac.yaml:4:5: unknown key chains.eth.form.\nTry:   did you mean from?',
    ],
    [
      'chains:\n  eth: { rpc: http://a, requests_per_seconds: 3 }',
      'almanac.yaml:2:25: unknown key chains.eth.requests_per_seconds.\nTry:   did you mean requests_per_second?',
    ],
    // A value that looks like a slip gets the one that is meant.
    [
      'store: ./almanac.db',
      'almanac.yaml:1:8: store is "./almanac.db"; accepted: file:path or postgres://user:password@host/database.\nTry:   did you mean file:./almanac.db?',
    ],
    ['log: { level: inf }', '.\nTry:   did you mean info?'],
    // What follows from the slip is not said beside it.
    [
      'chains:\n  eth:\n    rcp: http://127.0.0.1:1',
      'almanac.yaml:3:5: unknown key chains.eth.rcp.\nTry:   did you mean rpc?',
    ],
    [
      'solana:\n  mainnet:\n    rcp: http://127.0.0.1:1',
      'almanac.yaml:3:5: unknown key solana.mainnet.rcp.\nTry:   did you mean rpc?',
    ],
    [
      'chains:\n  mine:\n    ids: 77\n    rpc: http://127.0.0.1:1',
      'almanac.yaml:3:5: unknown key chains.mine.ids.\nTry:   did you mean id?',
    ],
    ['xyzzy: 1', `almanac.yaml:1:1: unknown key xyzzy. Accepted here: ${settings}.`],
    [
      'solana:\n  testnet: { rpc: http://a }',
      'almanac.yaml:2:3: unknown key solana.testnet. Accepted here: mainnet and devnet.',
    ],
    [
      'chains:\n  polygn: { rpc: http://a }',
      'almanac.yaml:2:3: polygn is not a known chain. To add a chain, set chains.polygn.id.\nTry:   did you mean polygon?',
    ],
    [
      'chains:\n  ethereum: { rpc: http://a }',
      'almanac.yaml:2:3: ethereum is not a known chain. To add a chain, set chains.ethereum.id.\nTry:   did you mean eth?',
    ],
    ['chains:\n  ours: { rpc: http://a, id: 0x1 }', 'almanac.yaml:2:3: chains.ours.id is 1, which is the id of eth.'],
    ['chains:\n  eth: { rpc: http://a, id: 5 }', 'almanac.yaml:2:3: chains.eth.id is 5, but eth has the id 1.'],
    [
      'chains:\n  eth: { rpc: http://a }\n  0x1: { rpc: http://a }',
      'almanac.yaml:3:3: chains.0x1 is eth, which is configured already.',
    ],
    [
      'listen: 8080',
      'almanac.yaml:1:9: listen is 8080 (a number); accepted: host:port, :port or [IPv6]:port, with a port up to 65535.\nTry:   did you mean 127.0.0.1:8080?',
    ],
    [
      'listen: localhost:99999',
      'almanac.yaml:1:9: listen is "localhost:99999"; accepted: host:port, :port or [IPv6]:port, with a port up to 65535.',
    ],
    [
      'listen:',
      'almanac.yaml:1:8: listen is empty; accepted: host:port, :port or [IPv6]:port, with a port up to 65535.',
    ],
    ['dialect: old', 'almanac.yaml:1:10: dialect is "old"; accepted: `reference` or `live`.'],
    ['ops_open: maybe', 'almanac.yaml:1:11: ops_open is "maybe"; accepted: `true` or `false`.'],
    [
      'chains:\n  eth: { rpc: http://a, from: -1 }',
      'almanac.yaml:2:31: chains.eth.from is -1 (a number); accepted: a block number: a whole number, at least 0.',
    ],
    [
      'chains:\n  eth:\n    rpc: http://a\n    contracts:\n      - 0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d\n      - 0x12',
      'almanac.yaml:6:9: chains.eth.contracts[1] is "0x12"; accepted: a list of addresses: 0x and 40 hex digits each.',
    ],
    [
      'chains:\n  eth: { rpc: http://a, views: [transfers, holders] }',
      'almanac.yaml:2:44: chains.eth.views[1] is "holders"; accepted: a list of `transfers`, `activity`, `by_wallet`, `by_token`, `by_block`, `erc20`; `transfers` is always kept.',
    ],
    [
      'chains:\n  eth: { rpc: http://a, views: activity }',
      'almanac.yaml:2:32: chains.eth.views is "activity"; accepted: a list of `transfers`, `activity`, `by_wallet`, `by_token`, `by_block`, `erc20`; `transfers` is always kept.',
    ],
    [
      'chains:\n  zircon: { rpc: http://a }',
      'almanac.yaml:2:3: zircon is not a known chain. To add a chain, set chains.zircon.id.',
    ],
    [
      'chains:\n  eth: { index: full }',
      'almanac.yaml:2:8: chains.eth.rpc, history and portal are missing: one is needed; accepted as rpc: an http:// or https:// URL, or a list of them.',
    ],
    [
      'chains:\n  eth: { rpc: http://a, views: [erc20] }',
      'almanac.yaml:2:3: chains.eth.views has erc20, which keeps every token of a chain that is indexed in full. Set chains.eth.index to full, or remove erc20: tokens are then indexed when they are requested.',
    ],
    [
      'chains:\n  eth: { history: ./files }',
      'almanac.yaml:2:3: chains.eth has files or a portal, which give whole blocks, and index: on-demand asks nodes for contracts. Set chains.eth.index to full, or remove history and portal.',
    ],
    [
      'chains:\n  eth: { index: full, anchor: 0x12 }',
      'almanac.yaml:2:31: chains.eth.anchor is "0x12"; accepted: 0x and 64 hex digits.',
    ],
    [
      'chains:\n  eth: { rpc: http://a, history_summaries: ftp://b }',
      'chains.eth.history_summaries is ftp://b; accepted: a file, the http:// or https:// URL of a beacon node, or a list of them.',
    ],
    [
      'chains:\n  eth: { rpc: [] }',
      'almanac.yaml:2:15: chains.eth.rpc is an empty list; accepted: an http:// or https:// URL, or a list of them.',
    ],
    ['limits: 5', 'almanac.yaml:1:9: limits is 5 (a number); accepted: a map with '],
    ['- listen', `almanac.yaml:1:1: the file is a list; accepted: a map with ${settings}.`],
    [
      'store: mysql://x',
      'almanac.yaml:1:8: store is "mysql://x"; accepted: file:path or postgres://user:password@host/database.',
    ],
    ['listen: :1\nlisten: :2', 'almanac.yaml:2:1: Map keys must be unique.'],
    ['chains:\n\teth: {}', 'almanac.yaml:2:1: Tabs are not allowed as indentation.'],
    ['chains: {', 'almanac.yaml:1:10: Flow map in block collection must be sufficiently indented and end with a }.'],
    ['loop: &loop { next: *loop }', 'almanac.yaml:1:1: unknown key loop. '],
    ['listen: *nothing', 'almanac.yaml: Unresolved alias (the anchor must be set before the alias): nothing.'],
  ])('%j', (text, message) => {
    expect(refusal(text)).toContain(message)
  })

  test('all errors are told at once, each with its source', () => {
    const environment = { ALMANAC_LISTEN: 'abc', ALMANAC_LIMITS_PAGE_SIZE_MAX: 'many' }
    const message = refusal('lisen: 1', { environment, flags: new Map([['dialect', 'old']]) })
    expect(message.split('\n').map(line => line.trim())).toEqual([
      'The configuration has 4 errors.',
      'almanac.yaml:1:1: unknown key lisen. Did you mean listen?',
      'ALMANAC_LISTEN: listen is "abc"; accepted: host:port, :port or [IPv6]:port, with a port up to 65535.',
      '--dialect: dialect is "old"; accepted: `reference` or `live`.',
      'ALMANAC_LIMITS_PAGE_SIZE_MAX: limits.page_size_max is "many"; accepted: a whole number from 1 to 1000.',
      'Try:   see docs/settings.md of the Almanac repository, or /docs/settings.html of a running service.',
    ])
  })

  test('the part of the manual about the setting is named', () => {
    const sections = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8').matchAll(/^### `(.*)`$/gm)
    const anchors = Array.from(sections, ([, name]) => `#${name!.replaceAll(/[<>.]/g, '')}`)
    for (const [text, anchor] of [
      ['limits: { page_size_max: 0 }', '#limitspage_size_max'],
      ['chains: { eth: { rpc: http://a, views: [holders] } }', '#chainsnameviews'],
      ['chains: { eth: { rpc: http://a, id: 5 } }', '#chainsnameid'],
      ['chains: { eth: { rpc: http://a, backfill: { hours: x } } }', '#chainsnamebackfillhours'],
      ['solana: { devnet: { rpc: 5 } }', '#solananetworkrpc'],
    ] as const) {
      expect(anchors).toContain(anchor)
      expect(refusal(text)).toMatch(
        new RegExp(`\\nTry: {3}see docs/settings\\.md${anchor} .* /docs/settings\\.html${anchor} `),
      )
    }
  })

  test('errors are told in the order of the lines, a chain without an id among them', () => {
    const message = refusal(
      `dialect: old
chains:
  zircon: { rpc: http://a }
  polygon: { rcp: http://a }
  10: { rpc: http://a, id: 11 }
  eth: { rpc: rpc.example/v3/S3cr3t }
limits: { page_size_max: 0 }
listn: :1
`,
    )
    const places = message
      .split('\nTry: ')[0]!
      .split('\n')
      .map(line => line.trim().split(/: (?!,)/)[0])
    expect(places).toEqual([
      'The configuration has 7 errors.',
      ...['1:10', '3:3', '4:14', '5:3', '6:15', '7:26', '8:1'].map(place => `almanac.yaml:${place}`),
    ])
    expect(message).toContain('chains.10.id is 11, but optimism has the id 10.')
    expect(message).toContain('chains.eth.rpc is rpc.example/…; accepted: an http:// or https:// URL')
    expect(message).not.toContain('S3cr3t')
  })

  test('a file that cannot be read', () => {
    expect(() => loadConfig({ file: join(directory, 'absent.yaml') })).toThrow(/Cannot read the configuration file/)
  })

  test('an alias bomb', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `k${level + 1}: &k${level + 1} [${`*k${level}, `.repeat(9)}]`,
    )
    expect(refusal(`k0: &k0 x\n${levels.join('\n')}`)).toContain('Excessive alias count')
  })
})

describe('the old spelling', () => {
  const names = [
    ...['chains.eth.requests_per_second', 'chains.eth.daily_budget', 'solana.devnet.max_age_ms'],
    ...['solana.devnet.subscriptions_max', 'solana.devnet.reconcile_ms', 'limits.page_size_max'],
    ...['limits.concurrency_max', 'limits.queue_max', 'limits.request_timeout_ms', 'limits.freshen_wait_ms'],
    ...['limits.url_bytes_max', 'limits.header_bytes_max', 'limits.answer_bytes_max', 'limits.answer_cache_bytes'],
    ...['limits.drain_timeout_ms', 'limits.replica_lag_max_ms', 'limits.lag_max_seconds'],
  ]
  const required: Record<string, object> = { chains: { rpc: 'http://a' }, solana: { rpc: 'http://a' }, limits: {} }

  /** One setting with a value that every one of them accepts except the page size. */
  function fileWith(path: string, key: string): string {
    const [section, ...middle] = path.split('.').slice(0, -1) as [string, ...string[]]
    const setting = { ...required[section], [key]: path.endsWith('page_size_max') ? 7 : 70_007 }
    return JSON.stringify({ [section]: middle.reduceRight<object>((inner, name) => ({ [name]: inner }), setting) })
  }

  test.each(names)('of %s is accepted with a warning that names the new one', path => {
    const key = path.split('.').at(-1)!
    const old = key.replace(/_[a-z]/g, part => part[1]!.toUpperCase())
    const before = load(fileWith(path, old))
    const now = load(fileWith(path, key))
    expect(before.config).toEqual(now.config)
    expect(JSON.stringify(now.config)).toContain(path.endsWith('page_size_max') ? ':7' : ':70007')
    expect(now.warnings).toEqual([])
    expect(before.warnings.map(({ text }) => text.replace(/^.*almanac.yaml:1:\d+: /, ''))).toEqual([
      `${path.replace(key, old)} is now spelled ${path}. The old spelling works until 1.0.`,
    ])
    expect(shownConfig(before.config)).toEqual(shownConfig(now.config))
    expect(JSON.stringify(shownConfig(before.config))).toContain(`"${key}":`)
    expect(JSON.stringify(shownConfig(before.config))).not.toContain(old)
  })

  test('has its place in warnings and errors', () => {
    const { warnings } = load('limits:\n  queueMax: 5')
    expect(warnings[0]!.text).toContain('almanac.yaml:2:3: limits.queueMax is now spelled limits.queue_max.')
    expect(warnings[0]).toMatchObject({
      event: 'Setting renamed',
      facts: { place: `${file}:2:3`, old: 'limits.queueMax', new: 'limits.queue_max' },
    })
    expect(refusal('limits:\n  queueMax: many')).toContain(
      'almanac.yaml:2:13: limits.queue_max is "many"; accepted: a whole number, at least 0.',
    )
  })

  test('beside the new one is an error', () => {
    expect(refusal('limits:\n  queueMax: 5\n  queue_max: 5')).toContain(
      'almanac.yaml:2:3: limits.queueMax is the old spelling of limits.queue_max, which is given too. Remove limits.queueMax.',
    )
    expect(refusal('lisen: 1\nchains: { eth: { rpc: http://a, daily_budget: 5, dailyBudget: 6 } }')).toMatch(
      /2 errors\.\n.*unknown key lisen.*\n.*chains\.eth\.dailyBudget is the old spelling of chains\.eth\.daily_budget/,
    )
  })

  test('loses to the environment, whose names are the same for both', () => {
    const { config } = load('limits: { pageSizeMax: 7 }', { environment: { ALMANAC_LIMITS_PAGE_SIZE_MAX: '8' } })
    expect(config.limits.pageSizeMax).toBe(8)
    const flags = new Map([['ops_open', true]])
    expect(load('opsOpen: false', { flags }).config.opsOpen).toBe(true)
  })

  test('of a secret stays hidden', () => {
    const token = 'S3cr3tT0k3n'
    const text = `solana: { devnet: { rpc: http://a, yellowstone: http://b, yellowstoneToken: ${token} } }`
    const { config, warnings } = load(text)
    expect(config.solana.devnet?.yellowstoneToken).toBe(token)
    expect(JSON.stringify([shownConfig(config), warnings])).not.toContain(token)
    expect(refusal(text.replace('}', ', yellowstone_token: x }'))).not.toContain(token)
  })

  test('does not touch the names of chains', () => {
    const text = JSON.stringify({ chains: { my_own_chain: { id: 77_777, rpc: 'http://a', dailyBudget: 5 } } })
    const { config } = load(text)
    expect(config.chains.my_own_chain?.dailyBudget).toBe(5)
    expect(shownConfig(config).chains).toMatchObject({ my_own_chain: { daily_budget: 5 } })
  })
})

describe('secrets', () => {
  const secret = 'S3cr3tS3cr3t'

  test('endpoints show their host only, the store no password', () => {
    const { config } = load(`
store: postgres://almanac:${secret}@db.example/almanac?x=${secret}
chains:
  eth: { rpc: ["https://${secret}:${secret}@rpc.example/v2/${secret}?key=${secret}"], ws: wss://rpc.example/${secret} }
  bsc: { index: full, portal: "https://portal.example/${secret}", history_summaries: [roots.ssz, "http://beacon.example/${secret}"] }
`)
    const shown = JSON.stringify(shownConfig(config))
    expect(shown).not.toContain(secret)
    expect(shown).toContain('https://…@rpc.example/…')
    expect(shown).toContain('postgres://almanac:…@db.example/almanac')
    expect(shown).toContain('["roots.ssz","http://beacon.example/…"]')
  })

  test.each([
    `chains: { eth: { rpc: ftp://x/${secret} } }`,
    `chains: { eth: https://rpc.example/v2/${secret} }`,
    `chains: https://rpc.example/v2/${secret}`,
    `chains: { eth: { rpc: "${secret}" } }`,
    `chains: { eth: { rpc: http://a, ws: http://b/${secret} } }`,
    `chains: { eth: { portal: ftp://b/${secret}, history_summaries: ftp://c/${secret} } }`,
    `chains:\n  eth:\n    rpc: http://a/${secret}\n   bad: 1`,
    `chains: { eth: { rpc: [http://a/${secret} }`,
    `chains:\n  eth:\n    rpc: "http://a/${secret}`,
  ])('no error quotes one: %j', text => {
    expect(refusal(text)).not.toContain(secret)
  })
})

test('no text makes it throw anything but a clear error', () => {
  const key = fc.constantFrom('listen', 'chains', 'solana', 'limits', 'eth', 'rpc', '__proto__', 'constructor', '0x1')
  const tree = fc.letrec(tie => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.integer(),
      fc.constant(null),
      tie('map'),
      fc.array(tie('node'), { maxLength: 3 }),
    ),
    map: fc.dictionary(key, tie('node'), { maxKeys: 4 }),
  }))
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        tree.map.map(value => JSON.stringify(value)),
      ),
      text => {
        try {
          load(text)
        } catch (error) {
          expect(error).toBeInstanceOf(AlmanacError)
        }
      },
    ),
    { numRuns: propertyRuns(500) },
  )
})

describe('odd input', () => {
  const rpc = 'http://127.0.0.1:1'

  test('a variable cannot reach what every object inherits, and hides no other variable', () => {
    const environment = {
      ALMANAC_CHAINS___PROTO___RPC: rpc,
      ALMANAC_CHAINS_CONSTRUCTOR_RPC: rpc,
      ALMANAC_CHAINS_CONSTRUCTOR_ID: '77',
      ALMANAC_LIMITS_PAGE_SIZE_MAX: '7',
    }
    try {
      const { config, warnings } = load('{}', { environment })
      expect(config.chains.constructor).toMatchObject({ rpc: [rpc], id: 77 })
      expect(config.limits.pageSizeMax).toBe(7)
      expect(warnings).toMatchObject([{ facts: { variable: 'ALMANAC_CHAINS___PROTO___RPC' } }])
      expect(Object.hasOwn(Object.prototype, 'rpc')).toBe(false)
    } finally {
      Reflect.deleteProperty(Object.prototype, 'rpc')
    }
  })

  test('a chain that a variable adds is reported there, though there is a file', () => {
    expect(refusal('{}', { environment: { ALMANAC_CHAINS_FOO_RPC: rpc } })).toMatch(
      /^ALMANAC_CHAINS_FOO_RPC: foo is not a known chain\./,
    )
    expect(refusal(`chains: { 0x1: { rpc: "${rpc}" } }`, { environment: { ALMANAC_CHAINS_ETH_RPC: rpc } })).toContain(
      'ALMANAC_CHAINS_ETH_RPC: chains.eth is eth, which is configured already.',
    )
  })

  test('a value that two rules refuse is one error', () => {
    expect(refusal('limits: { page_size_max: 99999999999999999999999 }')).toMatch(
      /^almanac\.yaml:1:26: limits\.page_size_max is 1e\+23 \(a number\); accepted: a whole number from 1 to 1000\.\nTry: .*$/,
    )
  })

  test('several documents are refused without advice to programmers', () => {
    expect(refusal('limits: {}\n---\nlimits: {}\n')).toContain('almanac.yaml:2:1: Source contains multiple documents.')
  })
})
