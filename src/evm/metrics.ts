// What the EVM indexer counts, under Prometheus names. No label holds an address or an endpoint's secret.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

export type EvmMetrics = ReturnType<typeof createEvmMetrics>

export function createEvmMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    blocks: new Counter({
      name: 'almanac_evm_blocks_total',
      help: 'Blocks stored, by whether they were followed at the head or filled in from history.',
      labelNames: ['chain', 'part'] as const,
      registers,
    }),
    transfers: new Counter({
      name: 'almanac_evm_transfers_total',
      help: 'Transfers stored, at the head and from history. Those of a branch that is replaced count again.',
      labelNames: ['chain'] as const,
      registers,
    }),
    logs: new Counter({
      name: 'almanac_evm_logs_total',
      help: 'Logs read for what was stored, at the head and from history.',
      labelNames: ['chain'] as const,
      registers,
    }),
    malformedLogs: new Counter({
      name: 'almanac_evm_malformed_logs_total',
      help: 'Logs that claim to be transfers and cannot be read as such, by reason.',
      labelNames: ['chain', 'reason'] as const,
      registers,
    }),
    reorganisations: new Counter({
      name: 'almanac_evm_reorganisations_total',
      help: 'Times that hot blocks were replaced by another branch.',
      labelNames: ['chain'] as const,
      registers,
    }),
    failures: new Counter({
      name: 'almanac_evm_failures_total',
      help: 'Failed attempts to follow the head or to fill history. Each is repeated.',
      labelNames: ['chain', 'part'] as const,
      registers,
    }),
    head: new Gauge({
      name: 'almanac_evm_head_block',
      help: 'The newest block that an endpoint reported.',
      labelNames: ['chain'] as const,
      registers,
    }),
    lag: new Gauge({
      name: 'almanac_evm_lag_seconds',
      help: 'Time between the newest block of the chain and the newest one stored, or since the last contact.',
      labelNames: ['chain'] as const,
      registers,
    }),
    contractReadings: new Counter({
      name: 'almanac_evm_contract_readings_total',
      help: 'Contracts that were asked for their name and interfaces, by outcome. What failed is asked again.',
      labelNames: ['chain', 'outcome'] as const,
      registers,
    }),
    contractsJudged: new Counter({
      name: 'almanac_evm_contracts_judged_total',
      help: 'Times that a contract was judged by the spam rules, by verdict.',
      labelNames: ['chain', 'verdict'] as const,
      registers,
    }),
    contractsWaiting: new Gauge({
      name: 'almanac_evm_contracts_waiting',
      help: 'Contracts that wait to be read or judged.',
      labelNames: ['chain'] as const,
      registers,
    }),
    rpcRequests: new Counter({
      name: 'almanac_evm_rpc_requests_total',
      help: 'Requests to endpoints, by their outcome.',
      labelNames: ['chain', 'endpoint', 'outcome'] as const,
      registers,
    }),
    rpcDuration: new Histogram({
      name: 'almanac_evm_rpc_request_duration_seconds',
      help: 'Time that endpoints took to answer.',
      labelNames: ['chain', 'endpoint'] as const,
      buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    rpcBytes: new Counter({
      name: 'almanac_evm_rpc_answer_bytes_total',
      help: 'Bytes of answers, after decompression.',
      labelNames: ['chain', 'endpoint'] as const,
      registers,
    }),
    rpcHedges: new Counter({
      name: 'almanac_evm_rpc_hedges_total',
      help: 'Requests that were sent to a second endpoint because the first took long.',
      labelNames: ['chain', 'endpoint'] as const,
      registers,
    }),
  }
}
