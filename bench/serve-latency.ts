// How long single pages take on a small and on a large store, which take turns so that both see the same machine.
import type { RunningAlmanac } from '../test/running-almanac.ts'
import { cpuSecondsOf } from './cpu-time.ts'
import { Client } from './load.ts'
import { deepPages, transfersRequest } from './page-requests.ts'
import type { FilledStore } from './serve-store.ts'
import { percentile } from './statistics.ts'

export type LatencyRow = { p50Ms: number; p99Ms: number; cpuMicros: number }

const samplesWanted = 1_000
const warmUp = 200

type Lane = { client: Client; processId: number; kinds: Record<string, () => Buffer> }

/** By kind of page: the small store, the large one, and how many times longer the median of the large one is. */
export async function measureLatency(
  stores: readonly [small: FilledStore, large: FilledStore],
  start: (store: FilledStore) => Promise<RunningAlmanac>,
): Promise<Record<string, { small: LatencyRow; large: LatencyRow; p50Ratio: number; cpuRatio: number }>> {
  const lanes = await Promise.all(stores.map(async store => await openLane(store, await start(store))))
  const results: Awaited<ReturnType<typeof measureLatency>> = {}
  for (const kind of Object.keys(lanes[0]!.kinds)) {
    const [small, large] = (await measureKind(lanes, kind)) as [LatencyRow, LatencyRow]
    results[kind] = { small, large, p50Ratio: large.p50Ms / small.p50Ms, cpuRatio: large.cpuMicros / small.cpuMicros }
  }
  for (const lane of lanes) lane.client.close()
  return results
}

async function openLane(store: FilledStore, { url, processId }: RunningAlmanac): Promise<Lane> {
  const { largest, contracts, from, to } = store
  const random = (count: number) => Math.floor(Math.random() * count)
  const upperBlock = () => to - random(Math.floor((to - from) / 2))
  return {
    client: await Client.open(url),
    processId,
    // Each request is another one, so that kept answers do not count.
    kinds: {
      'first page': () => transfersRequest(contracts[random(contracts.length)]!, `to_block=${upperBlock()}`),
      'deep page': await deepPages(store),
      'first page, total': () => transfersRequest(largest, `disable_total=false&limit=${100 + random(1e6)}`),
      'bounded page, total': () => transfersRequest(largest, `disable_total=false&to_block=${upperBlock()}`),
    },
  }
}

async function measureKind(lanes: readonly Lane[], kind: string): Promise<LatencyRow[]> {
  const ask = async (lane: Lane): Promise<number> => {
    const request = lane.kinds[kind]!()
    const begun = performance.now()
    await lane.client.count(request)
    return performance.now() - begun
  }
  for (let index = 0; index < warmUp; index++) for (const lane of lanes) await ask(lane)
  const before = lanes.map(lane => cpuSecondsOf(lane.processId))
  const tookMs = lanes.map((): number[] => [])
  for (let index = 0; index < samplesWanted; index++) {
    for (const [place, lane] of lanes.entries()) tookMs[place]!.push(await ask(lane))
  }
  return lanes.map((lane, place) => ({
    p50Ms: percentile(tookMs[place]!, 0.5),
    p99Ms: percentile(tookMs[place]!, 0.99),
    cpuMicros: ((cpuSecondsOf(lane.processId) - before[place]!) / samplesWanted) * 1e6,
  }))
}
