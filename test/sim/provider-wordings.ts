// How providers and clients word their refusals: code, HTTP status and text as seen in public trackers and documentation.

export type Wording = {
  status: number
  code: number
  message: (facts: { limit: number; asked: number; from: number; to: number }) => string
  data?: (facts: { limit: number; asked: number }) => unknown
}

const hex = (value: number): string => `0x${value.toString(16)}`

/** Too many blocks asked for. */
export const rangeWordings = {
  alchemy: {
    status: 400,
    code: -32600,
    message: ({ limit, from }) =>
      `Under the Free tier plan, you can make eth_getLogs requests with up to a ${limit} block range. Based on your parameters, this block range should work: [${hex(from)}, ${hex(from + limit - 1)}].`,
  },
  infura: { status: 200, code: -32602, message: ({ limit, asked }) => `range ${asked} exceeds limit of ${limit}` },
  quicknode: { status: 413, code: -32614, message: ({ limit }) => `eth_getLogs is limited to a ${limit} range` },
  ankr: { status: 200, code: -32600, message: () => 'block range is too wide' },
  blast: { status: 200, code: -32600, message: ({ limit }) => `eth_getLogs is limited to a ${limit} blocks range` },
  oneRpc: { status: 200, code: -32000, message: ({ limit }) => `eth_getLogs is limited to a ${limit} blocks range` },
  tenderly: {
    status: 200,
    code: -32602,
    message: () => 'invalid params',
    data: ({ limit, asked }) => ({ error_id: '4ed9', payload: `range ${asked} is bigger than range limit ${limit}` }),
  },
  drpc: { status: 200, code: 35, message: () => 'ranges over 10000 blocks are not supported on freetier' },
  publicnode: { status: 200, code: -32701, message: ({ limit }) => `exceed maximum block range: ${limit}` },
  chainstack: {
    status: 200,
    code: -32000,
    message: () => 'Block range limit exceeded. See more details at https://docs.example/limits',
  },
  erigon: {
    status: 200,
    code: -32000,
    message: ({ limit }) => `query block range exceeds server limit, narrow your filter: ${limit}`,
  },
  besu: { status: 200, code: -32005, message: () => 'Requested range exceeds maximum range limit' },
  moonbeam: { status: 200, code: -32603, message: ({ limit }) => `block range is too wide (maximum ${limit})` },
  avalanche: {
    status: 200,
    code: -32000,
    message: ({ limit, from, to }) => `requested too many blocks from ${from} to ${to}, maximum is set to ${limit}`,
  },
  cronos: { status: 200, code: -32000, message: ({ limit }) => `maximum [from, to] blocks distance: ${limit}` },
  morph: {
    status: 200,
    code: -32000,
    message: ({ limit, asked }) =>
      `block range is larger than max block range, block range = ${asked}, max block range = ${limit}`,
  },
} satisfies Record<string, Wording>

/** Too many logs in the answer. */
export const resultWordings = {
  infura: { status: 200, code: -32005, message: ({ limit }) => `query returned more than ${limit} results` },
  geth: { status: 200, code: -32000, message: ({ limit }) => `query returned more than ${limit} results` },
  reth: {
    status: 200,
    code: -32602,
    message: ({ limit, from, to }) =>
      `query exceeds max results ${limit}, retry with the range ${from}-${from + Math.floor((to - from) / 2)}`,
  },
  erigon: {
    status: 200,
    code: -32000,
    message: ({ limit }) => `query returns too many logs, narrow your filter: ${limit}`,
  },
  nethermind: {
    status: 200,
    code: -32005,
    message: ({ limit }) => `Too many logs requested. Max logs per response is ${limit}.`,
  },
} satisfies Record<string, Wording>

/** Too many bytes in the answer. */
export const sizeWordings = {
  alchemy: {
    status: 400,
    code: -32602,
    message: ({ from, to }) =>
      `Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [${hex(from)}, ${hex(from + Math.floor((to - from) / 2))}]`,
  },
  geth: { status: 200, code: -32003, message: () => 'response too large' },
  bodhi: { status: 200, code: -32008, message: () => 'Response is too big' },
  proxy: { status: 413, code: -32000, message: () => 'Request Entity Too Large' },
} satisfies Record<string, Wording>

export const timeoutWordings = {
  infura: { status: 200, code: -32005, message: () => 'query timeout exceeded' },
  geth: { status: 200, code: -32002, message: () => 'request timed out' },
  arbitrum: { status: 200, code: -32000, message: () => 'context deadline exceeded' },
} satisfies Record<string, Wording>

export const rateLimitWordings = {
  alchemy: {
    status: 429,
    code: 429,
    message: () =>
      'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.',
  },
  infura: { status: 429, code: -32005, message: () => 'project ID request rate exceeded' },
  quicknode: {
    status: 429,
    code: -32007,
    message: ({ limit }) => `${limit}/second request limit reached - reduce calls per second or upgrade your account`,
  },
  bsc: { status: 200, code: -32005, message: () => 'limit exceeded' },
} satisfies Record<string, Wording>

export const batchWordings = {
  geth: { status: 200, code: -32600, message: () => 'batch too large' },
  nethermind: { status: 200, code: -32005, message: () => 'Batch size limit exceeded' },
  jsonrpsee: { status: 200, code: -32010, message: () => 'The batch request was too large' },
  unsupported: { status: 200, code: -32005, message: () => 'Batched requests are not supported by this server' },
} satisfies Record<string, Wording>

export const finalizedWordings = {
  geth: { status: 200, code: -39001, message: () => 'finalized block not found' },
  avalanche: { status: 200, code: -32000, message: () => 'cannot query unfinalized data' },
  old: { status: 200, code: -32602, message: () => 'invalid argument 0: hex string without 0x prefix' },
  besu: { status: 200, code: -39001, message: () => 'Unknown block' },
} satisfies Record<string, Wording>

export const prunedWordings = {
  geth: { status: 200, code: 4444, message: () => 'pruned history unavailable' },
  nethermind: { status: 200, code: -32000, message: ({ from }) => `Receipt not available for From block ${from}.` },
  erigon: {
    status: 200,
    code: -32000,
    message: () => 'seek with txNum=1962853355 but data before txNum=2662500000 is not available',
  },
  erigonBlocks: {
    status: 200,
    code: -32000,
    message: ({ from, limit }) =>
      `old data not available due to pruning: requested block ${from}, history is available from block ${limit}`,
  },
  nethermindReceipts: {
    status: 200,
    code: -32602,
    message: ({ from }) =>
      `Receipts for block ${from} (0x5a1c) are neither stored nor reproducible from state history.`,
  },
  reth: { status: 200, code: -32603, message: ({ from }) => `state at block #${from} is pruned` },
  gethLogs: {
    status: 200,
    code: -32000,
    message: ({ from }) => `failed to get logs for block #${from} (0xd4e5..8fa3)`,
  },
  cronos: {
    status: 200,
    code: -32603,
    message: ({ from, limit }) => `Internal error: height ${from} is not available, lowest height is ${limit}`,
  },
} satisfies Record<string, Wording>
