// Explains what answers show of a contract: flags, names, labels, coverage, and whether a transfer is stored. It reads
// the store alone; its caller asks the node about a transaction.
import { type Decision, decisionsOf, shownName } from '../annotate/shown-facts.ts'
import { spamRules, spamScore } from '../annotate/spam-rules.ts'
import type { ChainTable } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import { hexOf } from '../hex.ts'
import { ledgerId } from '../ledgers.ts'
import { type Address, type ChainId, type CoveredInterval, type Hash, type Position, shownEvidence } from '../model.ts'
import type { NodeTransaction } from '../node-transaction.ts'
import type { ContractFacts, Label, Mark } from '../store/annotation-store.ts'
import { type SizeEstimate, sizeEstimate } from '../store/size-estimates.ts'
import type { ChainState, Store } from '../store/store.ts'
import { layOut, newLayout, storedTransfers } from '../store/transfer-payload.ts'
import type { HoldingsQueries } from './holdings/questions.ts'

export type ContractExplanation = {
  chain: ChainId
  contract: Address
  verified: Decision
  spam: Decision
  facts: ContractFacts | undefined
  /** The strongest first. */
  marks: readonly Mark[]
  /** The first one is shown. */
  labels: readonly Label[]
  deployerLabel: string | undefined
  state: ChainState | undefined
  covered: readonly CoveredInterval[]
  transfers: number
  /**
   * Pairs of a token and a wallet whose sum of what came and went is below zero, so that they are not shown as holders.
   * Undefined while not every block is indexed: what is missing may make them.
   */
  impossibleSums: number | undefined
  /** As an ERC-20 token; undefined where nothing is indexed of it as one. */
  token: TokenExplanation | undefined
}

type TokenExplanation = Pick<ContractExplanation, 'facts' | 'state' | 'covered' | 'transfers'> & {
  /** While not all of it is indexed. */
  estimate: SizeEstimate | undefined
}

/** An explanation starts no indexing. */
const unasked = { key: { id: '', indexPerDay: 0, indexWaiting: 0 }, freshen: undefined, freshenWaitMs: 0 }

export async function explainContract(
  { store, holdings }: { store: Store; holdings: Pick<HoldingsQueries, 'collectionStats'> },
  chain: ChainId,
  contract: Address,
): Promise<ContractExplanation> {
  const [{ facts, marks }, labels, state, covered, transfers, stats, token] = await Promise.all([
    store.annotationsOf(chain, contract),
    store.labelCandidates(chain, contract),
    store.chainState(chain),
    store.contractCoverage(chain, contract),
    store.transferCount({ chain, contract }),
    holdings.collectionStats({ chain, contract, atBlock: undefined, onlyQuick: true }, unasked).catch(uncounted),
    explainToken(store, ledgerId(chain, 'erc20'), contract),
  ])
  const impossibleSums = stats?.complete ? stats.impossible : undefined
  const deployer = facts?.reading?.deployer
  const deployerLabel = deployer && (await store.labelsOf(chain, [deployer])).get(deployer)
  return {
    ...{ chain, contract, ...decisionsOf(facts, marks), facts, marks, labels, state, covered, transfers },
    ...{ impossibleSums, deployerLabel, token },
  }
}

async function explainToken(store: Store, ledger: ChainId, contract: Address): Promise<TokenExplanation | undefined> {
  const [{ facts }, state, covered, transfers, estimate] = await Promise.all([
    store.annotationsOf(ledger, contract),
    store.chainState(ledger),
    store.contractCoverage(ledger, contract),
    store.transferCount({ chain: ledger, contract }),
    sizeEstimate(store, ledger, contract),
  ])
  return covered.length === 0 && transfers === 0 ? undefined : { facts, state, covered, transfers, estimate }
}

/** Where the chain does not keep the index, or the contract has too many holdings, the rest is explained. */
function uncounted(error: unknown): undefined {
  const isExpected = error instanceof AlmanacError && ['not_configured', 'list_too_large'].includes(error.code)
  if (!isExpected) throw error
}

/** Undefined where the node does not know it. */
export type NodeAnswer = NodeTransaction | undefined | 'not asked'

/** With its logs of one contract, or of all where none is named. */
export type AskTransaction = (
  asked: { chain: string; contract: Address | undefined; hash: Hash },
  signal: AbortSignal,
) => Promise<NodeAnswer>

export type TransferExplanation = {
  verdict:
    | 'stored'
    | 'not covered'
    | 'above the head'
    | 'no transfer'
    | 'reverted'
    | 'unknown transaction'
    | 'missing'
    | 'not asked'
  /** One sentence for a person. */
  because: string
  /** Rows of the transaction, or of the asked log alone. */
  rows: readonly Position[]
  /** The interval that covers the block. */
  covered: CoveredInterval | undefined
  node: NodeTransaction | undefined
}

export type AskedTransfer = { transaction: Hash; logIndex: number | undefined }

/** Reads a transaction hash, with or without `:logIndex`; undefined where the text is neither. */
export function parseAskedTransfer(text: string): AskedTransfer | undefined {
  const [, hash, logIndex] = /^(0x[0-9a-f]{64})(?::(\d{1,9}))?$/.exec(text.toLowerCase()) ?? []
  if (hash === undefined) return undefined
  return { transaction: hash as Hash, logIndex: logIndex === undefined ? undefined : Number(logIndex) }
}

export async function explainTransfer(
  store: Store,
  { chain, contract, state, covered }: ContractExplanation,
  asked: AskedTransfer,
  answer: NodeAnswer,
): Promise<TransferExplanation> {
  if (answer === 'not asked')
    return nothing(
      'not asked',
      'No running process with a node of this chain was found, and rows are not kept by transaction.',
    )
  if (answer === undefined)
    return nothing(
      'unknown transaction',
      'The node does not know the transaction, keeps no index of transactions that old, or it is in no block yet.',
    )
  const { block } = answer
  const rows = await rowsOf(store, { chain, contract, block }, asked)
  const covering = covered.find(interval => interval.from <= block && block <= interval.to)
  const wanted = answer.logs.filter(log => asked.logIndex === undefined || log.logIndex === asked.logIndex)
  const expected = wanted.reduce((sum, log) => sum + log.transfers, 0)
  const found = (verdict: TransferExplanation['verdict'], because: string): TransferExplanation => ({
    ...{ verdict, because, rows, covered: covering, node: answer },
  })
  if (rows.length > 0 && rows.length >= expected)
    return found('stored', `Block ${block} is stored with it${evidenceText(covering)}.`)
  if (!answer.succeeded) return found('reverted', 'The transaction was reverted: it moved nothing.')
  if (expected === 0) return found('no transfer', noTransferText(answer, wanted, asked))
  if (state !== undefined && block > state.head.number)
    return found('above the head', `Block ${block} is above the head that is stored, ${state.head.number}.`)
  if (covering === undefined) return found('not covered', `Block ${block} is not covered: ${coveredText(covered)}.`)
  return found(
    'missing',
    `Block ${block} is covered${evidenceText(covering)}, and ${expected - rows.length} of ${expected} transfers are not stored. Compare it with: almanac verify --from ${block} --to ${block}`,
  )
}

function nothing(verdict: TransferExplanation['verdict'], because: string): TransferExplanation {
  return { verdict, because, rows: [], covered: undefined, node: undefined }
}

/** The places of the stored transfers of a transaction, or of one of its logs. */
export async function rowsOf(
  store: Store,
  { chain, contract, block }: { chain: ChainId; contract: Address; block: number },
  { transaction, logIndex }: AskedTransfer,
): Promise<Position[]> {
  const rows: Position[] = []
  const layout = newLayout()
  for await (const row of storedTransfers(store, { chain, contract, from: block, to: block })) {
    if (logIndex !== undefined && logIndex !== row.logIndex) continue
    layOut(row.payload, 0, layout)
    const hash = hexOf<Hash>(row.payload.subarray(layout.hash, layout.to))
    if (hash !== transaction) continue
    rows.push({ block, transactionIndex: row.transactionIndex, logIndex: row.logIndex, batchIndex: row.batchIndex })
  }
  return rows
}

function evidenceText(covered: CoveredInterval | undefined): string {
  return covered === undefined ? '' : ` (evidence: ${shownEvidence(covered.evidence)})`
}

function coveredText(covered: readonly CoveredInterval[]): string {
  if (covered.length === 0) return 'nothing of this contract is'
  const shown = covered.slice(-3).map(({ from, to }) => `${from} to ${to}`)
  return `${covered.length > 3 ? 'among others ' : ''}${shown.join(', ')} ${covered.length === 1 ? 'is' : 'are'}`
}

function noTransferText(
  { logs, otherLogs }: NodeTransaction,
  wanted: NodeTransaction['logs'],
  { logIndex }: AskedTransfer,
): string {
  if (logs.length === 0) return `The contract logged nothing in this transaction; others logged ${otherLogs} times.`
  if (wanted.length === 0) return `The contract has no log ${logIndex} in this transaction.`
  const reasons = wanted.map(log => `log ${log.logIndex}: ${reasonText(log.reason)}`)
  return `The decoder sees no transfer: ${reasons.join('; ')}.`
}

function reasonText(reason: string | undefined): string {
  if (reason === 'ether') return 'it moves ether, not a token'
  return reason === undefined || reason === 'another event' ? 'it is another event' : `malformed (${reason})`
}

function shownInterval({ from, to, evidence }: CoveredInterval) {
  return { from, to, evidence: shownEvidence(evidence) }
}

/** As JSON shows it, to the console and on the command line alike. */
export function shownExplanation(
  { chain, contract, verified, spam, facts, marks, labels, state, covered, token, ...counts }: ContractExplanation,
  chains: ChainTable,
) {
  return {
    chain: chainName(chain, chains),
    contract,
    possible_spam: {
      ...shownDecision(spam, chains),
      score: facts?.verdict?.score ?? null,
      score_needed: spamScore,
      rules_version: facts?.verdict?.rulesVersion ?? null,
      judged_at: moment(facts?.verdict?.judgedAtMs),
      judged_on: facts?.verdict?.basis ?? null,
      rules: (facts?.verdict?.reasons ?? []).map(({ rule, weight, numbers }) => ({
        ...{ rule, weight, numbers },
        reason: spamRules.find(known => known.rule === rule)?.reason ?? null,
      })),
    },
    verified_collection: shownDecision(verified, chains),
    name: shownName(facts?.name) ?? null,
    symbol: shownName(facts?.symbol) ?? null,
    interfaces: facts?.reading?.interfaces ?? null,
    deployer: facts?.reading?.deployer ?? null,
    deployer_label: counts.deployerLabel ?? null,
    created_block: facts?.reading?.createdBlock ?? null,
    read_at: moment(facts?.reading?.readAtMs),
    labels: labels.map((label, index) => ({ ...shownLabel(label, chains), shown: index === 0 })),
    marks: marks.map(mark => shownMark(mark, chains)),
    index: {
      head: state?.head.number ?? null,
      finalized: state?.finalized ?? null,
      transfers: counts.transfers,
      impossible_sums: counts.impossibleSums ?? null,
      covered: covered.map(shownInterval),
    },
    ...(token === undefined ? {} : { erc20: shownToken(token) }),
  }
}

function shownToken({ facts, state, covered, transfers, estimate }: TokenExplanation) {
  return {
    name: shownName(facts?.name) ?? null,
    symbol: shownName(facts?.symbol) ?? null,
    decimals: facts?.reading?.decimals ?? null,
    head: state?.head.number ?? null,
    finalized: state?.finalized ?? null,
    transfers,
    covered: covered.map(shownInterval),
    estimate: estimate ?? null,
  }
}

/** `because` is `pin`, `list` or `pack` with the mark, or what decided without one. */
function shownDecision({ value, by }: Decision, chains: ChainTable) {
  if (typeof by === 'string') return { value, because: by, mark: null }
  const because = { operator: 'pin', imported: 'list', 'built-in': 'pack' } as const
  return { value, because: because[by.rank], mark: shownMark(by, chains) }
}

export function shownTransfer({ verdict, because, rows, covered, node }: TransferExplanation) {
  return {
    verdict,
    because,
    rows: rows.map(({ block, transactionIndex, logIndex, batchIndex }) => ({
      ...{ block, transaction_index: transactionIndex, log_index: logIndex, batch_index: batchIndex },
    })),
    covered: covered === undefined ? null : shownInterval(covered),
    node:
      node === undefined
        ? null
        : {
            ...{ endpoint: node.endpoint, block: node.block, transaction_index: node.transactionIndex },
            ...{ succeeded: node.succeeded, other_logs: node.otherLogs },
            ...(node.receipts === undefined ? {} : { receipts: node.receipts }),
            logs: node.logs.map(({ logIndex, transfers, reason }) => ({
              ...{ log_index: logIndex, transfers, reason: reason ?? null },
            })),
          },
  }
}

export function shownLabel({ chain, label, source, rank, updatedAt }: Label, chains: ChainTable) {
  return {
    chain: chain === undefined ? null : chainName(chain, chains),
    ...{ label, rank, source },
    updated_at: new Date(updatedAt).toISOString(),
  }
}

export function shownMark({ chain, contract, verified, spam, rank, source, updatedAt }: Mark, chains: ChainTable) {
  return {
    chain: chainName(chain, chains),
    ...{ contract, verified: verified ?? null, spam: spam ?? null, rank, source },
    updated_at: new Date(updatedAt).toISOString(),
  }
}

/** The number where the chain is no longer configured. */
export function chainName(chain: ChainId, chains: ChainTable): string {
  return chains.byId(chain)?.name ?? String(chain)
}

function moment(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
