// Reads what contracts say at one block from a node: many calls in one where the chain has Multicall3, else one by one.
// A contract that refuses, loops or answers nonsense costs the others nothing. The answers are the endpoint's word;
// nothing is stored.
import { AlmanacError } from '../../errors.ts'
import { parseHex, quantityHex, quantityOf } from '../../hex.ts'
import { type BlockCalls, type ContractCall, type Hash, type NodeCalls, parseHash } from '../../model.ts'
import { chunks } from '../../rpc/batches.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { contractCall, ofContracts } from '../facts/contract-reader.ts'
import { aggregateCall, aggregatedAnswers, aggregateGas, multicall3 } from '../rpc/multicall.ts'
import type { RpcCall, RpcHeader, RpcPort } from '../rpc/port.ts'
import { explainedReading, readHead } from './balances.ts'

const aggregatedMax = 100
/** As many calls as this are asked for alone: Multicall3 saves nothing. */
const aloneMax = 4
const partsAtOnce = 4
/** Of one contract: a balance through several proxies takes a tenth of it. What it allows to return fits the bounds. */
const gasOfOne = 500_000
const aloneAtOnce = 16
/** No balance, name or number takes more. */
const answerBytesMax = 1_024
const attempts = 3

type At = { rpc: Pick<RpcPort, 'ask'>; signal: AbortSignal; block: number; hash: Hash }
type Answer = string | null

/** Without a block: at the head of the endpoint that is asked for it. */
export async function readCalls(
  { chain, rpc }: { chain: { name: string }; rpc: Pick<RpcPort, 'ask'> },
  { block, calls }: Pick<BlockCalls, 'block' | 'calls'>,
  waitMs: number,
): Promise<NodeCalls> {
  const signal = AbortSignal.timeout(Math.ceil(waitMs))
  try {
    for (let attempt = 1; ; attempt++) {
      const number = block ?? (await readHead(rpc, signal))
      const { values } = await rpc.ask([headerCall(number)], { ...checked(number), signal })
      const at = { rpc, signal, block: number, hash: hashOf(values[0])! }
      try {
        return { block: number, hash: at.hash, results: await readAll(calls, at) }
      } catch (error) {
        if (!(error instanceof BlockReplaced) || attempt === attempts) throw error
      }
    }
  } catch (error) {
    throw explainedReading(asOurs(error), { chain: chain.name, of: 'what contracts say', block, signal, waitMs })
  }
}

/** Endpoints stand at different branches, or the chain has moved while it was asked. */
class BlockReplaced extends Error {}

function asOurs(error: unknown): unknown {
  if (!(error instanceof BlockReplaced)) return error
  return new AlmanacError('upstream_failed', error.message, { retryable: true })
}

async function readAll(calls: readonly ContractCall[], at: At): Promise<Answer[]> {
  const isMany = calls.length > aloneMax
  const parts = chunks(calls, isMany ? aggregatedMax : aloneAtOnce)
  const answers = new Array<Answer[]>(parts.length)
  let next = 0
  const readNext = async (): Promise<void> => {
    for (let part = next++; part < parts.length; part = next++)
      answers[part] = await (isMany ? readTogether(parts[part]!, at) : readAlone(parts[part]!, at))
  }
  await Promise.all(Array.from({ length: partsAtOnce }, readNext))
  return answers.flat()
}

/** By one call of Multicall3. Those that failed in it are asked alone: another one may have used up the gas. */
async function readTogether(calls: readonly ContractCall[], at: At): Promise<Answer[]> {
  if (calls.length <= aloneMax) return await readInBatches(calls, at)
  const call = contractCall(multicall3, aggregateCall(calls), quantityHex(at.block), aggregateGas(calls.length))
  const value = await ask([call], at).then(([said]) => said, unlessOfContracts)
  // One of them took all gas or time, or returned too much.
  if (value === null) return await readHalves(calls, at, readTogether)
  const answers = aggregatedAnswers(value, calls.length)
  // The chain, or the chain at this block, has no Multicall3.
  if (answers === undefined) return await readInBatches(calls, at)
  const failed = calls.filter((_, place) => answers[place] === undefined)
  const again = (await readInBatches(failed, at)).values()
  return answers.map(answer => (answer === undefined ? again.next().value! : shown(answer)))
}

async function readInBatches(calls: readonly ContractCall[], at: At): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const part of chunks(calls, aloneAtOnce)) answers.push(...(await readAlone(part, at)))
  return answers
}

/** Each by a call of its own, in one batch. */
async function readAlone(calls: readonly ContractCall[], at: At): Promise<Answer[]> {
  if (calls.length === 0) return []
  const asked = calls.map(({ to, data }) => contractCall(to, data, quantityHex(at.block), gasOfOne))
  const values = await ask(asked, at).catch(unlessOfContracts)
  if (values !== null) return values.map(shown)
  if (calls.length > 1) return await readHalves(calls, at, readAlone)
  // Fails if the endpoint is at fault, and not the contract.
  await ask([], at)
  return [null]
}

async function readHalves(calls: readonly ContractCall[], at: At, read: typeof readAlone): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const half of chunks(calls, Math.ceil(calls.length / 2))) answers.push(...(await read(half, at)))
  return answers
}

function unlessOfContracts(error: unknown): null {
  const kind = rpcFailureOf(error)?.kind
  if (kind === undefined || !ofContracts.has(kind)) throw error
  return null
}

/** The answers of contracts at the block, null where one refused. The header beside them says that it is the block. */
async function ask(calls: readonly RpcCall[], { rpc, signal, block, hash }: At): Promise<readonly unknown[]> {
  const asked = [headerCall(block), ...calls]
  const { values } = await rpc.ask(asked, { ...checked(block), signal, revertsAsNull: true, bytesMax })
  const [header, ...answers] = values
  if (hashOf(header) !== hash) throw new BlockReplaced(`Block ${block} was replaced while contracts were asked.`)
  return answers
}

/** More than the gas of a call allows to return. */
const bytesMax = 2 ** 24

function checked(block: number) {
  const objection = ([header, ...answers]: readonly unknown[]): string | undefined => {
    const { number } = (header ?? {}) as Partial<RpcHeader>
    if (quantityOf(number, Number.MAX_SAFE_INTEGER) !== block) return `another block than ${block}`
    if (hashOf(header) === undefined) return `block ${block} without a hash`
    const isAnswer = (value: unknown) => value === null || parseHex(value) !== undefined
    return answers.every(isAnswer) ? undefined : 'what a contract said that is not hex'
  }
  return { nullIsMissing: true, objection }
}

function headerCall(block: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [quantityHex(block), false] }
}

function hashOf(header: unknown): Hash | undefined {
  return parseHash(`${(header as Partial<RpcHeader> | null)?.hash}`)
}

/** An address without code returns nothing. */
function shown(value: unknown): Answer {
  if (typeof value !== 'string' || value.length <= 2 || value.length > 2 + 2 * answerBytesMax) return null
  return value.toLowerCase()
}
