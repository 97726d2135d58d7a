// How EVM nodes and providers word their refusals, and the failure that each wording means. Pure.
import { kindOfStatus, type Refusal, type RpcFailureKind, type SortedRefusal } from '../../rpc/failures.ts'

import { receiptMethods } from './raw-receipts.ts'

/** Asked for where an endpoint has them; callers can do without. */
export const rawHeaderMethod = 'debug_getRawHeader'
const debugMethods = new Set<string>([receiptMethods.raw, rawHeaderMethod])

/** `by` lists who was seen to say it. */
type RefusalWording = readonly [kind: RpcFailureKind, said: RegExp, by: string]

/** The first match wins, so narrower wordings stand above wider ones. */
export const refusalWordings: readonly RefusalWording[] = [
  [
    'reverted',
    /(execution|transaction) reverted|reverted with |invalid opcode|vm exception|vm execution error/i,
    'geth, Parity, Hardhat with and without EDR',
  ],
  [
    'reverted',
    /out ?of ?gas|bad instruction|(invalid|bad) jump|stack (limit|underflow|overflow)|invalid_operation|write protection/i,
    'geth, Parity, Besu',
  ],
  ['batch-refused', /batch (size |request )?(is |was )?too (large|big)/i, 'geth, jsonrpsee (reth), Blast'],
  ['batch-refused', /batch (size )?limit|maximum batch|batch of more than/i, 'Nethermind, Acala, dRPC'],
  ['batch-refused', /batch(ed|ing)? (requests? )?(are|is) (not|disabled)/i, 'jsonrpsee, small gateways'],
  ['response-too-large', /batch response was too large/i, 'jsonrpsee (reth)'],
  ['quota', /(daily|monthly) (request |capacity |usage )?(count|limit|quota)|quota/i, 'Infura, Alchemy, Chainstack'],
  ['quota', /reached the free tier|out of credits|insufficient credits|billing/i, 'Ankr, dRPC, GetBlock'],
  ['rate-limited', /rate.?limit|too many requests|request rate|over rate|call rate/i, 'Infura, Ankr, publicnode'],
  ['rate-limited', /(requests?|calls|units) per second|\/second request limit/i, 'Alchemy, QuickNode'],
  ['rate-limited', /requests limited to|under too much load|has exceeded its/i, 'BlockPI, LlamaRPC, Alchemy'],
  [
    'filter-too-large',
    /addresses or topics per search|contains \d+ filters|less number of addresses/i,
    'geth, Infura, Ankr',
  ],
  ['too-many-results', /more than [\d,]+ (results|logs)|exceeds? max results/i, 'Infura, geth forks, zkSync, reth'],
  [
    'too-many-results',
    /too many (logs|results|events)|exceeds? max logs|result (set )?(is )?too large/i,
    'Erigon, Nethermind, Moonbeam',
  ],
  [
    'response-too-large',
    /response size|response (is )?too (large|big)|entity too large|content too large/i,
    'Alchemy, geth, nginx',
  ],
  ['behind', /beyond current head|after last accepted block|into the future/i, 'geth 1.16, Avalanche'],
  [
    'range-too-large',
    /range (is )?(too (large|wide|big)|larger than|limit exceeded)/i,
    'Ankr, Base, Moonbeam, Morph, Chainstack',
  ],
  [
    'range-too-large',
    /range \d+ (exceeds|is bigger)|range exceeds|exceeds? (the )?range/i,
    'Infura, Tenderly, Besu, Erigon',
  ],
  ['range-too-large', /(max|maximum) (allowed )?(block )?range|max block range/i, 'publicnode, Hyperliquid, Astar'],
  [
    'range-too-large',
    /limited to (an? )?[\d,]+k? ?(blocks? )?range|limited to (an? )?[\d,]+k? blocks?/i,
    'QuickNode, Blast, 1RPC, BlockPI',
  ],
  ['range-too-large', /up to (an? )?[\d,]+k? block range|ranges over [\d,]+ blocks/i, 'Alchemy, dRPC'],
  ['range-too-large', /too many blocks|blocks distance|blocks? range limit/i, 'Avalanche, Cronos (Ethermint)'],
  ['pruned', /pruned|(due to|state) pruning|historical state/i, 'geth, reth, Besu, Erigon'],
  ['pruned', /history (is )?(unavailable|not available|available from)/i, 'geth, Erigon'],
  ['pruned', /missing trie node|data before .* is not available/i, 'geth, Erigon'],
  ['pruned', /receipts? (is |are )?(not |un)available|neither stored nor reproducible/i, 'Nethermind, reth'],
  ['pruned', /failed to get logs for block|lowest height is \d+/i, 'geth, Cronos (Tendermint)'],
  ['pruned', /archive (node|data|state|request)|maximum proof window/i, 'Ankr, Chainstack, reth'],
  [
    'tag-unknown',
    /(finalized|safe) block (is )?not (found|available)|without 0x prefix|(unknown|unsupported|invalid) block tag/i,
    'geth, older geth, Nethermind',
  ],
  [
    'behind',
    /header not found|(unknown|missing) (block|header)|block not found|could not find block/i,
    'geth, Besu, Parity',
  ],
  ['behind', /unfinalized data|block is out of range|block .*not (yet )?available/i, 'Avalanche, Klaytn, Substrate'],
  ['timeout', /time(d)?.?out|deadline exceeded|took too long|execution aborted/i, 'Infura, geth, Arbitrum'],
  [
    'method-missing',
    /method .*(not (found|available|supported|enabled|allowed|whitelisted)|disabled|does not exist)/i,
    'geth, bsc-dataseed, Ankr',
  ],
  ['method-missing', /(unsupported|unknown) method|in your (current )?plan/i, 'Parity, QuickNode'],
  [
    'unauthorized',
    /unauthori[sz]ed|forbidden|(invalid|missing|must .*) (api|project).?(key|id)|not allowed to access/i,
    'Infura, Alchemy, dRPC',
  ],
]

/** The blocks that a refusal would allow: a suggested range, or a number. */
const suggestedRange = /\[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i
const suggestedNumbers = /with the range (\d+)-(\d+)/i
const allowedBlocks =
  /(?:limited to|up to|limit of|range limit|set to|distance:|filter:|over|maximum|max block range =|range:)\s*(?:an? )?([\d,]+)(k?)/i

/** Sorts by words first, then by code, then by HTTP status: codes mean different things at each provider. */
export function sortRefusal({ status, rpcCode, text, method }: Refusal): SortedRefusal {
  if (rpcCode === 4444) return { kind: 'pruned' }
  if (rpcCode === 3) return { kind: 'reverted' }
  if (rpcCode === -32601) return { kind: 'method-missing' }
  // A gateway that answers 429 is over its limit whatever else it says, and "limit" wordings abound.
  const worded = refusalWordings.find(([, said]) => said.test(text))?.[0]
  const kind =
    status === 429 && worded !== 'quota'
      ? 'rate-limited'
      : (worded ?? kindOfCode(rpcCode, method) ?? kindOfStatus(status))
  // Nodes and providers keep the debug methods to themselves in many words.
  if (debugMethods.has(method) && unwilling.has(kind)) return { kind: 'method-missing' }
  const blocksAllowed = splittable.has(kind) ? blocksAllowedBy(text) : undefined
  return blocksAllowed === undefined ? { kind } : { kind, blocksAllowed }
}

export function isRevert({ rpcCode, text }: Pick<Refusal, 'rpcCode' | 'text'>): boolean {
  return sortRefusal({ status: 200, rpcCode, text, method: 'eth_call' }).kind === 'reverted'
}

const unwilling = new Set<RpcFailureKind>(['refused', 'unauthorized', 'filter-too-large', 'tag-unknown'])
const splittable = new Set<RpcFailureKind>(['range-too-large', 'too-many-results', 'response-too-large'])

function kindOfCode(code: number | undefined, method: string): RpcFailureKind | undefined {
  // EIP-1474 calls -32005 "limit exceeded": of results where logs were asked for, of requests elsewhere.
  if (code === -32005) return method === 'eth_getLogs' ? 'too-many-results' : 'rate-limited'
  if (code === -32004) return 'method-missing'
  if (code === -32002) return 'timeout'
  if (code === -32003) return 'response-too-large'
  if (code === -39001) return 'behind'
  return undefined
}

function blocksAllowedBy(text: string): number | undefined {
  const range = suggestedRange.exec(text) ?? suggestedNumbers.exec(text)
  const blocks = range === null ? numberIn(allowedBlocks.exec(text)) : Number(range[2]) - Number(range[1]) + 1
  return blocks !== undefined && blocks >= 1 && blocks < 1e9 ? blocks : undefined
}

function numberIn(match: RegExpExecArray | null): number | undefined {
  if (match?.[1] === undefined) return undefined
  return Number(match[1].replaceAll(',', '')) * (match[2] ? 1_000 : 1)
}
