// Asks the endpoints of a new configuration what they can do and what a full index of them would cost, and has the user
// decide about those that cannot be used. It writes nothing.

import { namedChain } from '../../chains.ts'
import { loadConfig } from '../../config/load.ts'
import type { ChainSettings } from '../../config/settings.ts'
import { durationText } from '../../duration-text.ts'
import { AlmanacError, describeError } from '../../errors.ts'
import { codelessAt } from '../../evm/audit/check-endpoint.ts'
import { planChain } from '../../tools/plan/chain-plan.ts'
import { engineCosts } from '../../tools/plan/measured-costs.ts'
import { modelledChains } from '../../tools/plan/model.ts'
import { costText, totalOf } from '../../tools/plan/report.ts'
import { commandLine } from '../current-process.ts'
import type { Questions } from '../questions.ts'
import { bytesText, countOf, printNote, whileWaiting } from '../terminal.ts'
import {
  type Answers,
  type ChainAnswers,
  chainMeant,
  contractsIn,
  type InitFlags,
  isKnown,
  type NamedChain,
  parseUrls,
  type SolanaAnswers,
} from './answers.ts'
import { checkChain, checkSolana } from './check.ts'
import type { Findings } from './file.ts'

export const planSamples = 6
const estimateTimeoutMs = 30_000

/** Says what each mode costs, and returns whether that is of this chain: its node may be away, or too slow. */
export async function tellCost(answers: ChainAnswers, isChecked: boolean): Promise<boolean> {
  const estimate = isChecked ? fullCost(answers).catch(() => undefined) : Promise.resolve(undefined)
  const cost = await whileWaiting(`  Estimating what all of ${answers.name} takes`, estimate)
  printNote(`\n  full       ${cost ?? modelledCost()}`)
  printNote('  on-demand  Nothing now. A contract takes minutes and some MB when it is first requested.')
  return cost !== undefined
}

async function fullCost({ name, id, rpc }: ChainAnswers): Promise<string> {
  const loaded = loadConfig({
    given: { chains: { [name]: { ...(id === undefined ? {} : { id }), rpc, index: 'full' } } },
  })
  const spent = { calls: 0, bytes: 0, seconds: 0 }
  const [[configured, settings]] = Object.entries(loaded.config.chains) as [[string, ChainSettings]]
  const sampling = { samples: planSamples, spent, costs: engineCosts.file, onStep: () => {} }
  const task = { name: configured, settings, loaded, ...sampling }
  const planned = await planChain(task, AbortSignal.timeout(estimateTimeoutMs))
  if (planned.works.length === 0) return 'Nothing to estimate: no block is final yet.'
  return `About ${costText(totalOf([planned]))}, estimated from ${countOf(spent.calls, 'call')}.`
}

function modelledCost(): string {
  const { chain, seconds, disk_bytes } = modelledChains()[0]!
  return `${chain} takes about ${durationText(seconds)} and ${bytesText(disk_bytes)}, computed; ${commandLine} plan asks your node.`
}

/** Reports every endpoint that cannot be used; on a terminal the user may continue anyway. */
export async function checkAll(
  { chains, solana }: Answers,
  { check }: InitFlags,
  questions: Questions | undefined,
): Promise<Findings> {
  const found = new Map<string, string[]>()
  for (const typed of check ? [...chains, ...solana] : []) {
    const taken = chains.filter(chain => chain !== typed)
    const isAgreed =
      (await checkOne(typed, { found, questions, taken })) &&
      (!('name' in typed) || !found.has(typed.name) || (await checkContracts(typed, questions)))
    if (!isAgreed) throw new AlmanacError('interrupted', 'Nothing was written.')
  }
  return found
}

const checkTimeoutMs = 120_000
const codeTimeoutMs = 10_000

type Checking = {
  found: Map<string, string[]>
  questions: Questions | undefined
  /** The other chains. */
  taken?: readonly NamedChain[] | undefined
}

/** False: the user does not want the endpoints, which cannot be used. Without a terminal that is an error. */
export async function checkOne(
  typed: ChainAnswers | SolanaAnswers,
  { found, questions, taken = [] }: Checking,
): Promise<boolean> {
  for (;;) {
    const name = 'name' in typed ? typed.name : `solana ${typed.network}`
    printNote(`\nChecking ${name} …${doubtOf(name)}`)
    let failed: string | undefined
    const onAsk = (url: string): void => {
      failed = url
    }
    const look =
      'name' in typed ? checkChain(typed, AbortSignal.timeout(checkTimeoutMs), onAsk) : checkSolana(typed, onAsk)
    try {
      const lines = await whileWaiting(`  Waiting for the node of ${name}`, look)
      if ('name' in typed) refuseTwice(typed, taken)
      found.set(name, lines)
      for (const line of lines) printNote(`  ${line}`)
      return true
    } catch (error) {
      if (questions === undefined) throw error
      const mended = await mend(typed, error, { questions, taken, failed })
      if (mended !== 'changed') return mended
    }
  }
}

/** Warns of addresses without code. False: the user does not want them. Without a terminal they are kept. */
export async function checkContracts(typed: ChainAnswers, questions: Questions | undefined): Promise<boolean> {
  for (;;) {
    const { name, rpc, contracts } = typed
    const asked = codelessAt(rpc, contracts, AbortSignal.timeout(codeTimeoutMs))
    const codeless = await whileWaiting(`  Looking for the contracts of ${name}`, asked)
    for (const address of codeless) printNote(`Warning: ${name} has no code at ${address}: not a contract.`)
    if (codeless.length === 0 || questions === undefined) return true
    const about = {
      ...{ otherwise: false, other: 'an address' },
      help: 'Of an address without code nothing can be indexed, unless a contract is deployed there later. With no, the contracts are asked for again.',
    }
    const others = contracts.filter(address => !codeless.includes(address))
    const it = codeless.length === 1 ? 'it' : 'them'
    const rest = others.length === 0 ? '' : ` The others stay; - leaves ${it} out.`
    const question = `Keep ${it} anyway, or paste another contract?${rest}`
    const answer = await questions.confirmOr(question, about, text => (text === '-' ? [] : contractsIn(text)))
    if (typeof answer === 'boolean') return answer
    // What is typed stands in their place.
    typed.contracts = [...new Set([...others, ...answer])]
  }
}

function idOf({ name, id = namedChain(name)?.id ?? Number(name) }: NamedChain): number {
  return id
}

/** One chain under two names would be refused only when everything is answered. */
function refuseTwice(typed: ChainAnswers, taken: readonly NamedChain[]): void {
  const same = taken.find(other => idOf(other) === idOf(typed))
  if (same === undefined) return
  throw new AlmanacError('config_invalid', `${typed.name} has the id ${idOf(typed)}, as ${same.name} has.`, {
    hint: `give the endpoints of ${same.name} in one list, or those of another chain.`,
  })
}

/** Has the user decide about endpoints that cannot be used: to keep them, to type others, or to name another chain. */
async function mend(
  typed: ChainAnswers | SolanaAnswers,
  error: unknown,
  { questions, taken, failed }: { questions: Questions; taken: readonly NamedChain[]; failed: string | undefined },
): Promise<boolean | 'changed'> {
  const served = error instanceof AlmanacError ? (error.details as { served?: string } | undefined)?.served : undefined
  const what = 'name' in typed ? typed.name : 'solana'
  const others = typed.rpc.filter(url => url !== failed)
  // What is typed stands in the place of the one that failed.
  const read = (text: string): string[] => {
    if (text !== '-') return typed.rpc.flatMap(url => (url === failed ? parseUrls(what, text) : [url]))
    if (others.length > 0) return others
    throw new AlmanacError('bad_request', `${what} has no other endpoint.`, {
      hint: `answer no: its endpoints are asked for again, and - leaves ${what} out there.`,
    })
  }
  if (served !== undefined && 'name' in typed) {
    // The hint names a flag.
    printNote(`Error: ${(error as AlmanacError).message}`)
    if (others.length > 0) {
      const about = { otherwise: '-', help: 'Each endpoint of a chain has to serve it. The others stay as they are.' }
      typed.rpc = await questions.ask(`${what}: another endpoint in its place; - leaves it out`, about, read)
      return 'changed'
    }
    delete typed.id
    if (taken.some(({ name }) => name === served)) {
      printNote(`Try:   paste an endpoint of ${what} here; ${served} has its own question.`)
      return false
    }
    // A name that no chain has is one for this node; eth is meant as eth.
    const about = {
      ...{ otherwise: !isKnown(what), other: 'an endpoint' },
      help: `With yes the file has ${served} in place of ${what}; with no the endpoint of ${what} is asked for again.`,
    }
    const answer = await questions.confirmOr(`Call it ${served}, or paste another endpoint?`, about, read)
    if (answer === true) typed.name = served
    else if (answer !== false) typed.rpc = answer
    return answer === false ? false : 'changed'
  }
  printNote(describeError(error))
  if ('name' in typed && error instanceof AlmanacError && error.code === 'config_invalid') {
    delete typed.id
    return false
  }
  // Only the endpoint knows the id of a chain that is not built in, and nothing can be written without one.
  if ('name' in typed && typed.id === undefined && !isKnown(typed.name)) return false
  const rest = others.length === 0 ? '' : ' The others stay; - leaves this one out.'
  const about = {
    ...{ otherwise: false, other: 'an endpoint' },
    help: `Almanac tries an endpoint that it keeps again and again. With no all of them are asked for again.${rest}`,
  }
  const answer = await questions.confirmOr(`Keep it anyway, or paste another endpoint?${rest}`, about, read)
  if (typeof answer === 'boolean') return answer
  typed.rpc = answer
  return 'changed'
}

/** A chain may have any name, but one that looks mistyped is worth a word before its node is waited for. */
function doubtOf(name: string): string {
  const meant = chainMeant(name)
  return meant === undefined ? '' : ` It is not a known chain. Did you mean ${meant}?`
}
