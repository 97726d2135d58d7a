// Checks the endpoints that a new configuration names, and tells what they can do. It changes nothing but the id of a chain that has none.
import { ChainTable, defineChain, otherChain } from '../chains.ts'
import { AlmanacError, messageOf } from '../errors.ts'
import { chainIdAt, checkEndpoint, type EndpointFindings } from '../evm/audit/check-endpoint.ts'
import { HeadsFeed } from '../evm/rpc/heads.ts'
import type { SolanaNetwork } from '../model.ts'
import { redactUrl } from '../redact.ts'
import { checkSolanaEndpoint, type SolanaFindings } from '../solana/check-endpoint.ts'
import { type ChainWish, likelyChain, type SolanaWish } from './init-wishes.ts'
import { countText, durationText } from './terminal.ts'

const socketTimeoutMs = 10_000

/** What the endpoints of a chain can do, line by line. Fails where one of them cannot serve it. */
export async function checkChain(wish: ChainWish, signal: AbortSignal): Promise<string[]> {
  const table = new ChainTable()
  const known = table.parse(wish.name)
  if (known === undefined && wish.id === undefined) wish.id = await chainIdAt(wish.rpc[0]!, signal)
  const lines: string[] = []
  const expected = known?.id ?? wish.id!
  for (const url of wish.rpc) {
    const id = await chainIdAt(url, signal)
    if (id !== expected) {
      const { serves, hint } = otherChain(id, expected)
      throw new AlmanacError('config_invalid', `The endpoint ${redactUrl(url)} of ${wish.name} ${serves}.`, { hint })
    }
    const chain = known ?? table.byId(id) ?? defineChain({ name: wish.name, id })
    if (known === undefined && table.byId(id) !== undefined) throw builtIn(wish.name, chain.name)
    const findings = await checkEndpoint(chain, url, signal)
    lines.push(...endpointLines(findings, Math.floor(Date.now() / 1_000)))
  }
  if (wish.ws !== undefined) lines.push(await socketLine(wish.ws))
  return lines
}

export async function checkSolana({ network, rpc }: SolanaWish): Promise<string[]> {
  const lines: string[] = []
  for (const url of rpc) lines.push(...solanaLines(network, await checkSolanaEndpoint(network, url)))
  return lines
}

/** A chain that is built in goes by its own name, so that requests find it. */
function builtIn(name: string, right: string): AlmanacError {
  return new AlmanacError('config_invalid', `What answers for ${JSON.stringify(name)} is the chain ${right}.`, {
    hint: `call it ${right}${likelyChain(name) === right ? '' : '; chains that are built in have one name'}.`,
  })
}

async function socketLine(url: string): Promise<string> {
  const host = redactUrl(url)
  try {
    await subscribed(url)
    return `${host}: subscribes to new heads`
  } catch (error) {
    return `${host}: does not tell new heads (${messageOf(error)}); they are polled as well, so that nothing is lost`
  }
}

function subscribed(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error?: Error): void => {
      clearTimeout(timer)
      feed.close()
      if (error === undefined) resolve()
      else reject(error)
    }
    const timer = setTimeout(() => finish(new Error(`no answer within ${socketTimeoutMs / 1_000} s`)), socketTimeoutMs)
    const feed = new HeadsFeed({ url, lookNow: () => finish() })
  })
}

// What was found out about an endpoint, in words. Pure.

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
