// What the engines keep of a contract as JSON text: its reading and its verdict. No rule of either here.
import type { ContractFacts, ContractReading, SpamVerdict } from './contract-facts-store.ts'

/** The parts of ContractFacts that were stored as text; absent where there is none. */
export function judgement(
  reading: string | null | undefined,
  verdict: string | null | undefined,
): Pick<ContractFacts, 'reading' | 'verdict'> {
  return {
    ...(reading == null ? {} : { reading: JSON.parse(reading) as ContractReading }),
    ...(verdict == null ? {} : { verdict: JSON.parse(verdict) as SpamVerdict }),
  }
}
