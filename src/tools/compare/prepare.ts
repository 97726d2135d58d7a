// Makes the questions of a comparison: which chains both sides have and up to which block, and what is asked about.
import { z } from 'zod'
import type { ChainTable } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { type Operation, operations, type Row, type Subject } from './operations.ts'
import {
  type ComparedChain,
  type Given,
  interleaved,
  pick,
  type Question,
  requireOps,
  sampleAccounts,
  sampleContracts,
  subjectsIn,
} from './sample.ts'
import { messageIn, type Side } from './side.ts'

export type PrepareOptions = {
  here: Side
  there: Side
  table: ChainTable
  given: Given
  /** Random contracts, and accounts of each Solana network, where nothing is given. */
  samples: number
  operations: readonly Operation[]
  random: () => number
}

export type Prepared = {
  chains: ComparedChain[]
  /** Chains that are not compared, and why. */
  left: { chain: string; why: string }[]
  questions: Question[]
}

const statusAnswer = z.looseObject({
  chains: z.record(z.string(), z.looseObject({ head: z.number(), finalized: z.number() })),
  solana: z.record(z.string(), z.unknown()).default({}),
})
type Heads = ReadonlyMap<string, { head: number; final: number }>
type Configured = { heads: Heads; networks: readonly string[] }

export async function prepare(options: PrepareOptions): Promise<Prepared> {
  const { given, here } = options
  const isGiven = Object.values(given).some(subjects => subjects.length > 0)
  const { heads, networks } = await configuredHere(here, isGiven)
  const names = isGiven
    ? [...given.contracts, ...given.wallets, ...given.tokens].map(({ chain }) => chain)
    : [...heads.keys()]
  const { chains, left } = await comparedChains(options, heads, [...new Set(names)])
  const contracts = isGiven ? given.contracts : await sampled(options, chains)
  const questions: Question[] = []
  for (const { chain, address } of contracts) {
    const compared = chains.find(each => each.chain === chain)
    if (compared !== undefined) questions.push(...(await aboutContract(options, compared, address)))
  }
  for (const { chain, address } of given.wallets) {
    const block = chains.find(each => each.chain === chain)?.block
    if (block !== undefined) questions.push(...asked(options, { kind: 'wallet', chain, address }, block))
  }
  const tokens = given.tokens.length > 0 ? given.tokens : await tokensOf(options, questions)
  for (const { chain, address } of tokens) {
    const block = chains.find(each => each.chain === chain)?.block
    if (block !== undefined) questions.push(...asked(options, { kind: 'erc20', chain, address }, block))
  }
  const accounts = isGiven ? given.accounts : await sampledAccounts(options, networks, left)
  for (const { chain, address } of accounts) questions.push(...(await aboutAccount(options, chain, address)))
  if (questions.length > 0) return { chains, left, questions: interleaved(questions) }
  throw new AlmanacError('not_found', 'There is nothing to compare.', {
    cause:
      left.map(({ chain, why }) => `${chain}: ${why}`).join('; ') ||
      'no contract is indexed here, and no account was read',
    hint: 'name what to compare with --contract, --wallet, --token or --account, and check the URL of --against.',
  })
}

async function configuredHere(here: Side, isGiven: boolean): Promise<Configured> {
  const answer = await here.ask({ path: '/status', atRoot: true })
  // What is given can be compared with any key.
  if (answer.status === 403 && isGiven) return { heads: new Map(), networks: [] }
  requireOps(answer, here)
  const { data } = statusAnswer.safeParse(answer.body)
  if (data === undefined) throw new AlmanacError('upstream_invalid', `The server at ${here.shown} is not Almanac.`)
  const heads = Object.entries(data.chains).map(
    ([name, { head, finalized }]) => [name, { head, final: finalized }] as const,
  )
  return { heads: new Map(heads), networks: Object.keys(data.solana) }
}

async function comparedChains({ here, there, table }: PrepareOptions, heads: Heads, names: readonly string[]) {
  const chains: ComparedChain[] = []
  const left: Prepared['left'] = []
  for (const chain of names) {
    const mine = heads.get(chain) ?? (await finalByDepth(here, chain, table))
    if (mine === undefined || mine.final < 0) {
      left.push({ chain, why: 'no final block of it is known here' })
      continue
    }
    const theirs = await headOf(there, chain)
    if (typeof theirs === 'string') left.push({ chain, why: theirs })
    else
      chains.push({ chain, block: Math.min(mine.final, theirs ?? mine.final), headHere: mine.head, headThere: theirs })
  }
  return { chains, left }
}

/** For a key that may not read the status. */
async function finalByDepth(here: Side, chain: string, table: ChainTable) {
  const head = await headOf(here, chain)
  return typeof head === 'number' ? { head, final: head - table.parse(chain)!.finalityDepth } : undefined
}

/** The block of the present; null where the service does not say it, or else why it has no such chain. */
async function headOf(side: Side, chain: string): Promise<number | null | string> {
  const query = { chain, date: new Date().toISOString() }
  const { status, body } = await side.ask({ path: '/dateToBlock', query })
  const { block } = (body ?? {}) as { block?: unknown }
  if (status === 200 && Number.isSafeInteger(Number(block))) return Number(block)
  return status === 400 || status === 404 ? `not served ${side.name} (${status}: ${messageIn(body)})` : null
}

function sampled({ here, samples, random }: PrepareOptions, chains: readonly ComparedChain[]) {
  if (chains.length === 0) return []
  return sampleContracts(here, { chains: chains.map(({ chain }) => chain), count: samples, random })
}

async function sampledAccounts(
  { here, there, samples: count, random, operations }: PrepareOptions,
  networks: readonly string[],
  left: Prepared['left'],
): Promise<Given['accounts']> {
  const accounts: { chain: string; address: string }[] = []
  if (!operations.some(({ kind }) => kind === 'account')) return accounts
  for (const network of networks) {
    const found = await sampleAccounts(here, { network, count, random })
    const why = typeof found === 'string' ? found : await notServedThere(there, network, found[0]!)
    if (why !== undefined) left.push({ chain: `solana ${network}`, why })
    else accounts.push(...(found as string[]).map(address => ({ chain: network, address })))
  }
  return accounts
}

/** The base of EVM operations may have none of Solana, which is not a difference that was asked about. */
async function notServedThere(there: Side, network: string, address: string): Promise<string | undefined> {
  const hint = '--against-solana names its base for Solana'
  try {
    const { status, body } = await there.ask({ path: `/account/${network}/${address}/portfolio`, atRoot: true })
    return status === 200 ? undefined : `not served there (${status}: ${messageIn(body)}); ${hint}`
  } catch (error) {
    if (!(error instanceof AlmanacError) || !['upstream_invalid', 'unauthorized'].includes(error.code)) throw error
    return `not served there (${error.message}); ${hint}`
  }
}

function asked({ operations }: PrepareOptions, subject: Subject, block: number): Question[] {
  return operations.filter(({ kind }) => kind === subject.kind).map(operation => ({ operation, subject, block }))
}

async function aboutContract(options: PrepareOptions, { chain, block }: ComparedChain, address: string) {
  const { here, random, given } = options
  const rows = async (query: Record<string, string>): Promise<readonly Row[]> => {
    const { body } = await here.ask({ path: `/nft/${address}/transfers`, query: { chain, ...query } })
    const { result } = (body ?? {}) as { result?: unknown }
    return Array.isArray(result) ? result : []
  }
  const subject: Subject = { kind: 'contract', chain, address }
  const newest = await rows({ to_block: `${block}`, limit: '100' })
  const withWallet = given.wallets.length === 0
  const found = subjectsIn(newest, { chain, random, withWallet })
  const questions = [subject, ...found].flatMap(each => asked(options, each, block))
  const deep = options.operations.find(({ id }) => id === 'getNFTContractTransfers')
  const oldest = Number((await rows({ to_block: `${block}`, order: 'ASC', limit: '1' }))[0]?.block_number)
  // Page after page would cost too much to get into the middle of a history.
  const within = oldest + Math.floor(random() * (block - oldest))
  return deep === undefined || !(within < block)
    ? questions
    : [...questions, { operation: deep, subject, block: within }]
}

/** ERC-20 tokens that this side knows of the wallets that are asked about: one of each. */
async function tokensOf(
  { here, random, operations }: PrepareOptions,
  questions: readonly Question[],
): Promise<Given['tokens']> {
  if (!operations.some(({ kind }) => kind === 'erc20')) return []
  const wallets = new Map(
    questions.flatMap(({ subject, block }) =>
      subject.kind === 'wallet' ? [[`${subject.chain} ${subject.address}`, { ...subject, block }] as const] : [],
    ),
  )
  const found = new Map<string, { chain: string; address: string }>()
  for (const { chain, address, block } of wallets.values()) {
    const query = { chain, to_block: `${block}`, limit: '100' }
    const { body } = await here.ask({ path: `/${address}/erc20/transfers`, query })
    const { result } = (body ?? {}) as { result?: { address?: unknown }[] }
    const token = pick(random, Array.isArray(result) ? result : [])?.address
    if (typeof token === 'string') found.set(`${chain} ${token}`, { chain, address: token })
  }
  return [...found.values()]
}

const noBlock = Number.MAX_SAFE_INTEGER

async function aboutAccount(options: PrepareOptions, network: string, address: string): Promise<Question[]> {
  const { here, random } = options
  const { body } = await here.ask({ path: `/account/${network}/${address}/portfolio`, atRoot: true })
  const { tokens = [], nfts = [] } = (body ?? {}) as Record<'tokens' | 'nfts', { mint: string }[] | undefined>
  const mints = [
    { kind: 'mint' as const, mint: pick(random, tokens)?.mint },
    { kind: 'nft-mint' as const, mint: pick(random, nfts)?.mint },
  ]
  const subjects: Subject[] = [
    { kind: 'account', chain: network, address },
    ...mints.flatMap(({ kind, mint }) => (mint === undefined ? [] : [{ kind, chain: network, address: mint }])),
  ]
  return subjects.flatMap(subject => asked(options, subject, noBlock))
}

export function chosenOperations(text: string | undefined): readonly Operation[] {
  if (text === undefined) return operations
  const wanted = text.split(',').map(part => part.trim())
  const unknown = wanted.find(id => !operations.some(operation => operation.id === id))
  if (unknown === undefined) return operations.filter(({ id }) => wanted.includes(id))
  throw new AlmanacError('bad_request', `${JSON.stringify(unknown)} is not an operation that can be compared.`, {
    hint: `pass some of ${operations.map(({ id }) => id).join(', ')}.`,
  })
}
