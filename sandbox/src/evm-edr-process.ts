// Serves Hardhat's EVM over HTTP, in a process of its own that `evm-node.ts` starts. The engine lacks
// eth_getBlockReceipts, so this file collects single receipts; it changes no other answer.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { json } from 'node:stream/consumers'
import { listen } from './listen.ts'

type Request = { id: unknown; method: string; params: unknown[] }
type Answer = { result?: unknown; error?: unknown }
type Provider = { handleRequest(request: string): Promise<{ data: string | Answer }> }
type Edr = {
  L1_CHAIN_TYPE: string
  EdrContext: new () => {
    registerProviderFactory(type: string, factory: unknown): Promise<void>
    createProvider(type: string, ...parts: unknown[]): Promise<Provider>
  }
  ContractDecoder: new () => unknown
  l1ProviderFactory(): unknown
  l1GenesisState(hardfork: unknown): object[]
  l1HardforkFromString(name: string): unknown
}

const hardfork = 'Prague'
const gasLimit = 100_000_000n
const require = createRequire(import.meta.url)
const beginning = JSON.parse(process.argv[2] ?? '') as {
  /** The engine's package for this platform. */
  package: string
  chainId: number
  timestamp: number
  funded: string[]
}
const provider = await createProvider(require(beginning.package))

async function createProvider(edr: Edr): Promise<Provider> {
  const context = new edr.EdrContext()
  await context.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory())
  const funded = beginning.funded.map(address => ({
    address: Buffer.from(address.slice(2), 'hex'),
    balance: 10_000n * 10n ** 18n,
    nonce: 0n,
  }))
  const config = {
    allowBlocksWithSameTimestamp: false,
    allowUnlimitedContractSize: false,
    bailOnCallFailure: true,
    bailOnTransactionFailure: false,
    chainId: BigInt(beginning.chainId),
    coinbase: Buffer.alloc(20),
    defaultTransactionGasLimit: 16_000_000n,
    genesisState: [...edr.l1GenesisState(edr.l1HardforkFromString(hardfork)), ...funded],
    hardfork,
    initialBaseFeePerGas: 1_000_000_000n,
    initialParentBeaconBlockRoot: Buffer.alloc(32),
    minGasPrice: 0n,
    mining: { autoMine: false, blockGasLimit: gasLimit, memPool: { order: 'Fifo' } },
    network: {
      genesisBlockGasLimit: gasLimit,
      genesisBlockTime: BigInt(beginning.timestamp),
      genesisBlobGas: { gasUsed: 0n, excessGas: 0n },
    },
    networkId: BigInt(beginning.chainId),
    observability: {},
    ownedAccounts: [],
    precompileOverrides: [],
  }
  const silent = { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} }
  const deaf = { subscriptionCallback: () => {} }
  return await context.createProvider(edr.L1_CHAIN_TYPE, config, silent, deaf, new edr.ContractDecoder())
}

async function ask(method: string, params: unknown[]): Promise<Answer> {
  const { data } = await provider.handleRequest(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return typeof data === 'string' ? (JSON.parse(data) as Answer) : data
}

async function blockReceipts(params: unknown[]): Promise<Answer> {
  const block = await ask('eth_getBlockByNumber', [params[0], false])
  const hashes = (block.result as { transactions: string[] } | null | undefined)?.transactions
  if (hashes === undefined) return block
  const receipts: unknown[] = []
  for (const hash of hashes) receipts.push((await ask('eth_getTransactionReceipt', [hash])).result)
  return { result: receipts }
}

async function answer({ id, method, params }: Request): Promise<object> {
  const { result, error } = method === 'eth_getBlockReceipts' ? await blockReceipts(params) : await ask(method, params)
  return { jsonrpc: '2.0', id, ...(error === undefined ? { result } : { error }) }
}

const server = createServer(async (request, response) => {
  const asked = (await json(request)) as Request | Request[]
  const answers: object[] = []
  for (const one of [asked].flat()) answers.push(await answer(one))
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]))
})
process.stdout.write(`Listening on ${(await listen(server)).slice('http://'.length)}\n`)
