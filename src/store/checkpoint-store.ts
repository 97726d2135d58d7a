// Small named texts that must survive a restart, such as where a feed stopped. What they mean is their writers' business.

export interface CheckpointStore {
  checkpoint(name: string): Promise<string | undefined>
  putCheckpoint(name: string, value: string): Promise<void>
}
