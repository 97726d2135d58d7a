// An explanation as JSON shows it, to the console and on the command line alike.
import type { Verdict } from '../annotate/shown-facts.ts'
import { spamRules, spamScore } from '../annotate/spam-rules.ts'
import type { ChainTable } from '../chains.ts'
import type { ChainId } from '../model.ts'
import type { Label } from '../store/label-store.ts'
import type { Mark } from '../store/mark-store.ts'
import type { ContractExplanation, TransferExplanation } from './explain.ts'

export function shownExplanation(
  { chain, contract, verified, spam, facts, marks, labels, state, covered, transfers }: ContractExplanation,
  chains: ChainTable,
) {
  return {
    chain: chainName(chain, chains),
    contract,
    possible_spam: {
      ...shownVerdict(spam, chains),
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
    verified_collection: shownVerdict(verified, chains),
    name: facts?.name ?? null,
    symbol: facts?.symbol ?? null,
    interfaces: facts?.reading?.interfaces ?? null,
    deployer: facts?.reading?.deployer ?? null,
    created_block: facts?.reading?.createdBlock ?? null,
    read_at: moment(facts?.reading?.readAtMs),
    labels: labels.map((label, index) => ({ ...shownLabel(label, chains), shown: index === 0 })),
    marks: marks.map(mark => shownMark(mark, chains)),
    index: {
      head: state?.head.number ?? null,
      finalized: state?.finalized ?? null,
      transfers,
      covered: covered.map(({ from, to, evidence }) => ({ from, to, evidence })),
    },
  }
}

/** Why a flag is what it is: `pin`, `list` or `pack` with the mark, the rules, or nobody said anything. */
function shownVerdict({ value, by }: Verdict, chains: ChainTable) {
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
    covered: covered === undefined ? null : { from: covered.from, to: covered.to, evidence: covered.evidence },
    node:
      node === undefined
        ? null
        : {
            ...{ endpoint: node.endpoint, block: node.block, transaction_index: node.transactionIndex },
            ...{ succeeded: node.succeeded, other_logs: node.otherLogs },
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

/** A chain that is configured no longer goes by its number. */
export function chainName(chain: ChainId, chains: ChainTable): string {
  return chains.byId(chain)?.name ?? String(chain)
}

function moment(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
