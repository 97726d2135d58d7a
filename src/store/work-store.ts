// Processes on one store that ask each other for work, and tell how they fare. Nothing here must survive a crash of the store.

/** Work of one name is done once for all who ask while it is not finished. */
export type WorkRequest = {
  name: string
  /** Who can do it: a process takes work of the topics that it serves. */
  topic: string
  /** How long whoever asks will wait. After that nobody begins with it any more. */
  waitMs: number
}

/** Finished or forgotten work stays this long, for those who still look for its outcome. */
export const workKeptMs = 60_000
/** What a process said that never took it back. */
export const heartbeatsKeptMs = 86_400_000

export type Heartbeat = { process: string; ageMs: number; report: string }

export interface WorkStore {
  /** Asks for work, anew where it was finished before. */
  requestWork(request: WorkRequest): Promise<void>
  /**
   * Takes work that nobody else has, oldest first, for at most `holdMs`: whoever dies meanwhile leaves it to others. `waitMs` is
   * what is left of the wait.
   */
  takeWork(asked: { topics: readonly string[]; holdMs: number; limit: number }): Promise<WorkRequest[]>
  finishWork(name: string, outcome: string): Promise<void>
  /** The outcomes of those that are finished. */
  workOutcomes(names: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** What a process says of itself; an undefined report takes it back. */
  putHeartbeat(process: string, report: string | undefined): Promise<void>
  /** Of every process that did not take it back, youngest first, for a day. */
  heartbeats(): Promise<Heartbeat[]>
}
