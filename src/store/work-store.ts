// Work that processes on one store ask of each other, and their heartbeats. None of it must survive a crash of the
// store. The interface alone.

/** Work of one name is done once for all processes that ask while it is not finished. */
export type WorkRequest = {
  name: string
  /** A process takes work of the topics that it serves. */
  topic: string
  /** How long the asking process waits. No process starts the work after that. */
  waitMs: number
}

/** No lease and no hold lasts longer: one that seems to was written before the clock went back, and counts as over. */
export const heldMsMax = 600_000
/** Finished or forgotten work stays this long for processes that still look for its outcome. */
export const workKeptMs = 60_000
/** The heartbeat of a process that ended without taking it back. */
export const heartbeatsKeptMs = 86_400_000

export type Heartbeat = { process: string; ageMs: number; report: string }

export interface WorkStore {
  /** Asks for work, again where it was finished before. */
  requestWork(request: WorkRequest): Promise<void>
  /**
   * Takes work that no other process has, oldest first, for at most `holdMs`: work of a process that dies goes to
   * others. `waitMs` is what is left of the wait.
   */
  takeWork(asked: { topics: readonly string[]; holdMs: number; limit: number }): Promise<WorkRequest[]>
  finishWork(name: string, outcome: string): Promise<void>
  /** The outcomes of finished work. */
  workOutcomes(names: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** What a process reports of itself; undefined takes it back. */
  putHeartbeat(process: string, report: string | undefined): Promise<void>
  /** The reports that were not taken back, youngest first, for a day. */
  heartbeats(): Promise<Heartbeat[]>
}
