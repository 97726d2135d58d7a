// Looks up what a difference may come from: tokens, contracts and wallets that changed after the block up to which both
// sides are compared, and rows that stand elsewhere. Each is asked for once.
import { zeroAddress } from '../../model.ts'
import type { Finding } from './match.ts'
import type { Operation, Row, Subject } from './operations.ts'
import type { Reason } from './reasons.ts'
import { cursorIn, type Side, type Target } from './side.ts'

/** Of one question: if the first have the same reason, so have the rest. */
const lookedUpMax = 5
/** How far burns are looked for: they may be anywhere in a history. */
const burnPagesMax = 50

/** What a transfer changes. */
const moved =
  /^(owner_of|amount|block_number|transfer_index.*|count|nfts|collections|total_tokens|owners\.current|.*\.total|balance(_formatted)?|total_supply(_formatted)?|percentage_\w+|totalHolders|holderSupply\..*)$/

type About = { operation: Operation; subject: Subject; block: number }

export class LookUp {
  readonly #sides: Record<'here' | 'there', Side>
  readonly #answers = new Map<string, Promise<readonly Row[]>>()

  constructor(sides: Record<'here' | 'there', Side>) {
    this.#sides = sides
  }

  /** Adds the reason that is found to findings without one. */
  async explain(findings: readonly Finding[], about: About): Promise<Finding[]> {
    const { changesWith } = about.operation
    const open = findings.filter(
      ({ reason, kind, field }) => reason === undefined && (kind !== 'value' || moved.test(field)),
    )
    if (open.length === 0 || changesWith === undefined) return [...findings]
    const looked: (Reason | undefined)[] = []
    for (const finding of open.slice(0, changesWith === 'token' ? lookedUpMax : 1))
      looked.push(await this.#reasonOf(finding, about))
    const [common] = looked
    const isCommon = looked.every(reason => reason === common)
    const explained: Finding[] = []
    for (const finding of findings) {
      const at = open.indexOf(finding)
      const reason = at === -1 ? finding.reason : isCommon ? common : looked[at]
      const isBurned =
        reason === undefined && finding.field === 'total_tokens' && (await this.#isBurned(finding, about))
      explained.push({ ...finding, reason: isBurned ? 'burned' : reason })
    }
    return explained
  }

  /** Whether what is more there may be burned: that many tokens of the contract were, as far as is read here. */
  async #isBurned({ here, there }: Finding, { subject }: About): Promise<boolean> {
    const more = Number(there) - Number(here)
    if (subject.kind !== 'contract' || !(more > 0)) return false
    const burned = new Set<unknown>()
    let cursor: string | undefined
    for (let page = 0; page < burnPagesMax && burned.size < more; page++) {
      const query = { chain: subject.chain, limit: '100', ...(cursor === undefined ? {} : { cursor }) }
      const { status, body } = await this.#sides.here.ask({ path: `/nft/${subject.address}/transfers`, query })
      if (status !== 200) break
      for (const { to_address, token_id } of rowsIn(body)) if (to_address === zeroAddress) burned.add(token_id)
      cursor = cursorIn(body)
      if (cursor === undefined) break
    }
    return burned.size >= more
  }

  async #reasonOf(finding: Finding, { operation, subject, block }: About): Promise<Reason | undefined> {
    const names = operation.asOf ? (['there'] as const) : (['here', 'there'] as const)
    if (operation.changesWith !== 'token') {
      for (const name of names) if (await this.#hasMoved(name, subject, block)) return 'changed'
      return undefined
    }
    const token = tokenOf(finding, subject)
    if (token === undefined) return undefined
    if (finding.kind === 'missing_here' || finding.kind === 'missing_there') {
      const name = finding.kind === 'missing_here' ? 'here' : 'there'
      const owners = await this.#rows(name, {
        path: `${token.path}/owners`,
        query: { chain: token.chain, limit: '100' },
      })
      if (owners.some(row => isSame(row, finding.row!))) return 'order'
    }
    for (const name of names) {
      const query = { chain: token.chain, limit: '1' }
      const [newest] = await this.#rows(name, { path: `${token.path}/transfers`, query })
      if (Number(newest?.block_number) > block) return 'changed'
    }
    return undefined
  }

  /** Whether a transfer of the contract, of the token or of the wallet came later. */
  async #hasMoved(name: 'here' | 'there', subject: Subject, block: number): Promise<boolean> {
    for (const path of pathsOf(subject)) {
      const query = { chain: subject.chain, from_block: `${block + 1}`, limit: '1' }
      if ((await this.#rows(name, { path, query })).length > 0) return true
    }
    return false
  }

  #rows(name: 'here' | 'there', target: Target): Promise<readonly Row[]> {
    const asked = JSON.stringify([name, target])
    const known = this.#answers.get(asked) ?? this.#ask(name, target)
    this.#answers.set(asked, known)
    return known
  }

  async #ask(name: 'here' | 'there', target: Target): Promise<readonly Row[]> {
    const { status, body } = await this.#sides[name].ask(target)
    return status === 200 ? rowsIn(body) : []
  }
}

/** The lists of transfers that a subject has. */
function pathsOf(subject: Subject): string[] {
  if (subject.kind === 'contract') return [`/nft/${subject.address}/transfers`]
  if (subject.kind === 'erc20') return [`/erc20/${subject.address}/transfers`]
  return subject.kind === 'wallet' ? [`/${subject.address}/nft/transfers`, `/${subject.address}/erc20/transfers`] : []
}

function rowsIn(body: unknown): readonly Row[] {
  const { result } = (body ?? {}) as { result?: unknown }
  return Array.isArray(result) ? result : []
}

function tokenOf({ row }: Finding, subject: Subject): { chain: string; path: string } | undefined {
  const { chain } = subject
  if (row?.token_address !== undefined) return { chain, path: `/nft/${row.token_address}/${row.token_id}` }
  return subject.kind === 'token' ? { chain, path: `/nft/${subject.address}/${subject.tokenId}` } : undefined
}

/** The same owner since the same block. A row of a contract's NFTs names neither. */
function isSame(one: Row, other: Row): boolean {
  const isEqual = (field: string) =>
    other[field] === undefined || String(one[field]).toLowerCase() === String(other[field]).toLowerCase()
  return isEqual('owner_of') && isEqual('block_number')
}
