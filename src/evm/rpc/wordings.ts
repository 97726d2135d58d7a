// How nodes and providers word their refusals, as data: what each sentence means and who says it. The first row that matches
// wins, so narrower wordings stand above wider ones.
import type { RpcFailureKind } from './errors.ts'

export type RefusalWording = {
  kind: RpcFailureKind
  said: RegExp
  /** Who was seen to say it. */
  by: string
}

export const refusalWordings: readonly RefusalWording[] = [
  {
    kind: 'reverted',
    said: /(execution|transaction) reverted|invalid opcode|vm exception|vm execution error/i,
    by: 'geth, Parity, Hardhat with and without EDR',
  },
  {
    kind: 'reverted',
    said: /out ?of ?gas|bad instruction|(invalid|bad) jump|stack (limit|underflow|overflow)|invalid_operation|write protection/i,
    by: 'geth, Parity, Besu',
  },

  {
    kind: 'batch-refused',
    said: /batch (size |request )?(is |was )?too (large|big)/i,
    by: 'geth, jsonrpsee (reth), Blast',
  },
  {
    kind: 'batch-refused',
    said: /batch (size )?limit|maximum batch|batch of more than/i,
    by: 'Nethermind, Acala, dRPC',
  },
  {
    kind: 'batch-refused',
    said: /batch(ed|ing)? (requests? )?(are|is) (not|disabled)/i,
    by: 'jsonrpsee, small gateways',
  },
  { kind: 'response-too-large', said: /batch response was too large/i, by: 'jsonrpsee (reth)' },

  {
    kind: 'quota',
    said: /(daily|monthly) (request |capacity |usage )?(count|limit|quota)|quota/i,
    by: 'Infura, Alchemy, Chainstack',
  },
  {
    kind: 'quota',
    said: /reached the free tier|out of credits|insufficient credits|billing/i,
    by: 'Ankr, dRPC, GetBlock',
  },
  {
    kind: 'rate-limited',
    said: /rate.?limit|too many requests|request rate|over rate|call rate/i,
    by: 'Infura, Ankr, publicnode',
  },
  {
    kind: 'rate-limited',
    said: /(requests?|calls|units) per second|\/second request limit/i,
    by: 'Alchemy, QuickNode',
  },
  {
    kind: 'rate-limited',
    said: /requests limited to|under too much load|has exceeded its/i,
    by: 'BlockPI, LlamaRPC, Alchemy',
  },

  {
    kind: 'filter-too-large',
    said: /addresses or topics per search|contains \d+ filters|less number of addresses/i,
    by: 'geth, Infura, Ankr',
  },
  {
    kind: 'too-many-results',
    said: /more than [\d,]+ (results|logs)|exceeds? max results/i,
    by: 'Infura, geth forks, zkSync, reth',
  },
  {
    kind: 'too-many-results',
    said: /too many (logs|results|events)|exceeds? max logs|result (set )?(is )?too large/i,
    by: 'Erigon, Nethermind, Moonbeam',
  },
  {
    kind: 'response-too-large',
    said: /response size|response (is )?too (large|big)|entity too large|content too large/i,
    by: 'Alchemy, geth, nginx',
  },

  {
    kind: 'behind',
    said: /beyond current head|after last accepted block|into the future/i,
    by: 'geth 1.16, Avalanche',
  },
  {
    kind: 'range-too-large',
    said: /range (is )?(too (large|wide|big)|larger than|limit exceeded)/i,
    by: 'Ankr, Base, Moonbeam, Morph, Chainstack',
  },
  {
    kind: 'range-too-large',
    said: /range \d+ (exceeds|is bigger)|range exceeds|exceeds? (the )?range/i,
    by: 'Infura, Tenderly, Besu, Erigon',
  },
  {
    kind: 'range-too-large',
    said: /(max|maximum) (allowed )?(block )?range|max block range/i,
    by: 'publicnode, Hyperliquid, Astar',
  },
  {
    kind: 'range-too-large',
    said: /limited to (an? )?[\d,]+k? ?(blocks? )?range|limited to (an? )?[\d,]+k? blocks?/i,
    by: 'QuickNode, Blast, 1RPC, BlockPI',
  },
  {
    kind: 'range-too-large',
    said: /up to (an? )?[\d,]+k? block range|ranges over [\d,]+ blocks/i,
    by: 'Alchemy, dRPC',
  },
  {
    kind: 'range-too-large',
    said: /too many blocks|blocks distance|blocks? range limit/i,
    by: 'Avalanche, Cronos (Ethermint)',
  },

  {
    kind: 'pruned',
    said: /pruned|historical state|history (is )?(unavailable|not available)/i,
    by: 'geth, reth, Besu',
  },
  {
    kind: 'pruned',
    said: /missing trie node|receipts? not available|data before .* is not available/i,
    by: 'geth, Nethermind, Erigon',
  },
  { kind: 'pruned', said: /archive (node|data|state|request)|maximum proof window/i, by: 'Ankr, Chainstack, reth' },
  {
    kind: 'tag-unknown',
    said: /(finalized|safe) block (is )?not (found|available)|without 0x prefix|(unknown|unsupported|invalid) block tag/i,
    by: 'geth, older geth, Nethermind',
  },
  {
    kind: 'behind',
    said: /header not found|(unknown|missing) (block|header)|block not found|could not find block/i,
    by: 'geth, Besu, Parity',
  },
  {
    kind: 'behind',
    said: /unfinalized data|block is out of range|block .*not (yet )?available/i,
    by: 'Avalanche, Klaytn, Substrate',
  },

  {
    kind: 'timeout',
    said: /time(d)?.?out|deadline exceeded|took too long|execution aborted/i,
    by: 'Infura, geth, Arbitrum',
  },
  {
    kind: 'method-missing',
    said: /method .*(not (found|available|supported|enabled|allowed|whitelisted)|disabled|does not exist)/i,
    by: 'geth, bsc-dataseed, Ankr',
  },
  { kind: 'method-missing', said: /(unsupported|unknown) method|in your (current )?plan/i, by: 'Parity, QuickNode' },
  {
    kind: 'unauthorized',
    said: /unauthori[sz]ed|forbidden|(invalid|missing|must .*) (api|project).?(key|id)|not allowed to access/i,
    by: 'Infura, Alchemy, dRPC',
  },
]

/** Where a refusal names the blocks that it would answer: a suggested range, or a number. */
export const suggestedRange = /\[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i
export const suggestedNumbers = /with the range (\d+)-(\d+)/i
export const allowedBlocks =
  /(?:limited to|up to|limit of|range limit|set to|distance:|filter:|over|maximum|max block range =|range:)\s*(?:an? )?([\d,]+)(k?)/i
