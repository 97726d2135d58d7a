// Checks the endpoints that a new configuration names, and tells what they can do. It changes nothing but the id of a chain that has none.
import { ChainTable, defineChain, otherChain } from '../chains.ts'
import { AlmanacError, messageOf } from '../errors.ts'
import { chainIdAt, checkEndpoint } from '../evm/audit/check-endpoint.ts'
import { HeadsFeed } from '../evm/rpc/heads.ts'
import { redactUrl } from '../redact-url.ts'
import { checkSolanaEndpoint } from '../solana/check-endpoint.ts'
import { endpointLines, solanaLines } from './init-report.ts'
import { type ChainWish, likelyChain, type SolanaWish } from './init-wishes.ts'

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
