// Checks the endpoints of a new configuration and reports what they can do. It sets the id of a chain that has none.

import { defineChain, namedChain, parseChainText } from '../../chains.ts'
import { durationText } from '../../duration-text.ts'
import { AlmanacError, messageOf } from '../../errors.ts'
import { chainIdAt, checkEndpoint, type EndpointFindings } from '../../evm/audit/check-endpoint.ts'
import { HeadsFeed } from '../../evm/rpc/heads.ts'
import type { SolanaNetwork } from '../../model.ts'
import { redactUrl } from '../../redact.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { checkSolanaEndpoint, type SolanaFindings } from '../../solana/network.ts'
import { countOf, countText } from '../terminal.ts'
import type { ChainAnswers, SolanaAnswers } from './answers.ts'

const socketTimeoutMs = 10_000
const evmTimeoutMs = 5_000

/** What the endpoints of a chain can do, line by line. It fails with the last that `onAsk` heard. */
export async function checkChain(
  answers: ChainAnswers,
  signal: AbortSignal,
  onAsk?: (url: string) => void,
): Promise<string[]> {
  const { name, rpc, ws } = answers
  const known = namedChain(name)
  const meant = parseChainText(name)
  onAsk?.(rpc[0]!)
  if (known === undefined && !('id' in meant)) answers.id ??= await nodeIdAt(rpc[0]!, signal)
  const lines: string[] = []
  const expected = known?.id ?? ('id' in meant ? meant.id : answers.id!)
  for (const url of rpc) {
    onAsk?.(url)
    const id = await nodeIdAt(url, signal)
    if (id !== expected) {
      const actual = namedChain(String(id))?.name
      // A name of two words would need quotes.
      const word = actual !== undefined && /^\S+$/.test(actual) ? actual : id
      const served = actual === undefined ? `chain ${id}` : `${actual} (${id})`
      const wanted = name === String(expected) ? name : `${name} (${expected})`
      const hint = `check the URL, or name the chain as it is: --chain ${word}=URL`
      throw new AlmanacError('config_invalid', `The endpoint ${redactUrl(url)} serves ${served}, not ${wanted}.`, {
        hint,
        details: { served: actual ?? String(id) },
      })
    }
    const called = namedChain(String(id))
    if (known === undefined && called !== undefined)
      throw new AlmanacError('config_invalid', `The endpoint of ${JSON.stringify(name)} serves ${called.name}.`, {
        hint: `call the chain ${called.name}.`,
        details: { served: called.name },
      })
    const findings = await checkEndpoint(known ?? defineChain({ name, id }), url, signal)
    lines.push(...endpointLines(findings, Math.floor(Date.now() / 1_000)))
  }
  if (ws !== undefined) lines.push(await socketLine(ws))
  return lines
}

/** A page or a path of something else than a node does not become one by waiting, as one that is away may. */
async function nodeIdAt(url: string, signal: AbortSignal): Promise<number> {
  try {
    return await chainIdAt(url, signal)
  } catch (error) {
    throw notNode(url, error) ?? error
  }
}

function notNode(url: string, error: unknown): AlmanacError | undefined {
  const { kind, rpcCode, method } = rpcFailureOf(error) ?? {}
  if (kind !== 'invalid-answer' && !(kind === 'refused' && rpcCode === undefined)) return undefined
  const answer = messageOf((error as AlmanacError).cause)
  const message = `The endpoint ${redactUrl(url)} is not a JSON-RPC node: it answered ${method} with ${answer}.`
  return new AlmanacError('bad_request', message, {
    hint: 'check the URL and its path; that of a provider usually ends with the key.',
  })
}

export async function checkSolana({ network, rpc }: SolanaAnswers, onAsk?: (url: string) => void): Promise<string[]> {
  const lines: string[] = []
  for (const url of rpc) {
    onAsk?.(url)
    const findings = await checkSolanaEndpoint(network, url).catch(async (error: unknown) => {
      throw (await evmNodeAt(url)) ?? notNode(url, error) ?? error
    })
    lines.push(...solanaLines(network, findings))
  }
  return lines
}

/** What is wrong with an endpoint that knows nothing of Solana: people mix up the two. */
async function evmNodeAt(url: string): Promise<AlmanacError | undefined> {
  const id = await chainIdAt(url, AbortSignal.timeout(evmTimeoutMs)).catch(() => undefined)
  if (id === undefined) return undefined
  const name = namedChain(String(id))?.name ?? String(id)
  const message = `The endpoint ${redactUrl(url)} is a node of an EVM chain, ${name}, and not of Solana.`
  return new AlmanacError('config_invalid', message, {
    hint: `give the URL of a Solana node, and this one with --chain ${/\s/.test(name) ? id : name}=URL.`,
  })
}

export async function socketLine(url: string): Promise<string> {
  const host = redactUrl(url)
  try {
    await subscribed(url)
    return `${host}: subscribes to new heads`
  } catch (error) {
    return `${host}: does not send new heads (${messageOf(error)}); Almanac also polls, so nothing is missed`
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
    `batches: ${batchCalls > 1 ? `at least ${batchCalls} calls in one request` : 'refused, so every call is a separate request'}`,
    `finality: ${finalizedTag ? 'by the finalized tag' : 'no finalized tag, so a depth decides'}`,
  ]
}

const receiptsText = {
  proven: 'yes, and they hash to the header: full indexing is proven complete',
  given: 'yes, but they do not hash to the header: blooms check the blocks',
  missing: 'no: logs are read instead and checked by blooms, and wallet activity is less complete',
}

function historyText(blocksFrom: number | undefined, head: number): string {
  if (blocksFrom === 0) return 'every block from 0'
  if (blocksFrom === undefined) return 'none: not even the newest blocks can be read'
  return `from block ${countText(blocksFrom)} (the last ${countText(head - blocksFrom + 1)}); set from, or add an archive endpoint`
}

function stateText(stateFrom: number | undefined, head: number): string {
  if (stateFrom === 0) return 'an archive: every block, so wallets can be looked up on demand'
  const kept = stateFrom === undefined ? 'none' : `only the last ${countOf(head - stateFrom + 1, 'block')}`
  return `${kept}; wallets on demand and the first block of a contract need an archive endpoint`
}

function logsText({ blocks, isLimit }: EndpointFindings['logRange']): string {
  if (blocks === 0) return 'refused for every range'
  return isLimit
    ? `at most ${countOf(blocks, 'block')} at once`
    : `${countOf(blocks, 'block')} at once ${blocks === 1 ? 'was' : 'were'} answered`
}

function solanaLines(asked: SolanaNetwork, { endpoint, slot, network }: SolanaFindings): string[] {
  const ledger =
    network === asked
      ? `the ledger of Solana ${asked}`
      : network === undefined
        ? `a private ledger, not that of Solana ${asked}`
        : `the ledger of Solana ${network}, NOT of ${asked}`
  return [`${endpoint}: slot ${countText(slot)}, ${ledger}; lists token accounts by owner`]
}
