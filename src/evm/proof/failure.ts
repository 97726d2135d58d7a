// What a check of a node's answer finds: a failure, which costs the endpoint its trust, or a doubt, which costs the
// answer its proof.

export type FailedCheck =
  | 'unreadable'
  | 'header-missing'
  | 'header-unreadable'
  | 'links'
  | 'block-hash'
  | 'transactions'
  | 'transactions-root'
  | 'sender'
  | 'log-place'
  | 'log-gap'
  | 'bloom'
  | 'receipts'
  | 'receipts-root'
  | 'raw-receipts'

export type Failure = {
  check: FailedCheck
  block: number
  message: string
  /** Nothing came, though the header says that there is something: it may be that the node has dropped it. */
  isAbsent?: boolean
}

/** Why something is the node's word and not proven. */
export type Doubt = {
  reason: string
  /** Whether another endpoint might prove it. If not, everything else is proven. */
  elsewhere: boolean
}

export function failure(check: FailedCheck, block: number, message: string, isAbsent = false): Failure {
  return { check, block, message, ...(isAbsent ? { isAbsent } : {}) }
}

/** Part of an answer, cut to fit a message. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === undefined ? 'nothing' : text.length > 80 ? `${text.slice(0, 80)}…` : text
}
