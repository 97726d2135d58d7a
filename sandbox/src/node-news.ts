// What the sandbox tells of a local node that it keeps running, and how it tells a lost request from a refusal.

export type NodeNews = { event: 'node stopped answering' | 'node started again'; reason: string }

/** Whether a request to a node failed on its way, as on a machine that is too busy for both of them. */
export function isLost(failure: unknown): boolean {
  return failure instanceof TypeError || (failure instanceof Error && failure.name === 'TimeoutError')
}
