// What was found out about an endpoint, in words. Pure.
import type { EndpointFindings } from '../evm/audit/check-endpoint.ts'
import type { SolanaNetwork } from '../model.ts'
import type { SolanaFindings } from '../solana/check-endpoint.ts'
import { countText, durationText } from './quantities.ts'

export function endpointLines(findings: EndpointFindings, nowSeconds: number): string[] {
  const { head, headTimestamp, latencyMs, receipts, blocksFrom, stateFrom, logRange, batchCalls, finalizedTag } =
    findings
  const ageSeconds = Math.max(0, nowSeconds - headTimestamp)
  return [
    `${findings.endpoint}: head ${countText(head)}, ${durationText(ageSeconds)} old; answers in ${Math.round(latencyMs)} ms`,
    `history: ${historyText(blocksFrom, head)}`,
    `old state: ${stateText(stateFrom, head)}`,
    `logs: ${logsText(logRange)}`,
    `receipts by block: ${receiptsText[receipts]}`,
    `batches: ${batchCalls > 1 ? `at least ${batchCalls} calls in one request` : 'refused, so every call is a request of its own'}`,
    `finality: ${finalizedTag ? 'by the finalized tag' : 'no finalized tag, so a depth decides'}`,
  ]
}

const receiptsText = {
  proven: 'yes, and they hash to the header, so that full indexing is proven complete',
  given: 'yes, but they do not hash to the header; blocks are checked by their blooms',
  missing: 'no; logs are asked for instead and checked by blooms, and activity knows less',
}

function historyText(blocksFrom: number | undefined, head: number): string {
  if (blocksFrom === 0) return 'every block from 0 on'
  if (blocksFrom === undefined) return 'none that could be read, not even of the newest blocks'
  return `from block ${countText(blocksFrom)} on (the last ${countText(head - blocksFrom + 1)}); set from, or add an archive endpoint`
}

function stateText(stateFrom: number | undefined, head: number): string {
  if (stateFrom === 0) return 'an archive: every block, so that wallets are found on demand'
  const kept = stateFrom === undefined ? 'none' : `only the last ${countText(head - stateFrom + 1)} blocks`
  return `${kept}; wallets on demand and the first block of a contract need an archive endpoint`
}

function logsText({ blocks, isLimit }: EndpointFindings['logRange']): string {
  if (blocks === 0) return 'refused, whatever the range'
  return isLimit ? `at most ${countText(blocks)} blocks at once` : `${countText(blocks)} blocks at once were answered`
}

export function solanaLines(asked: SolanaNetwork, { endpoint, slot, network }: SolanaFindings): string[] {
  const ledger =
    network === asked
      ? `the ledger of Solana ${asked}`
      : network === undefined
        ? `a ledger of its own, not that of Solana ${asked}`
        : `the ledger of Solana ${network}, NOT of ${asked}`
  return [`${endpoint}: slot ${countText(slot)}, ${ledger}; lists the token accounts of owners`]
}
