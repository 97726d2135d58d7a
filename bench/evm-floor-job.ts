// One floor of the benchmark in its own process, as cold as the job that is held against it.
import { contractFloor, type FloorJob, fullFloor } from './evm-floor.ts'

const { url, head, contract, receipts } = JSON.parse(process.argv[2]!) as FloorJob
const floor = await (contract === undefined
  ? fullFloor(url, { head, receipts })
  : contractFloor(url, { head, contract }))
process.send?.(floor)
process.disconnect?.()
