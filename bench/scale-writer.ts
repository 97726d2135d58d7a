// Writes on below the history of a store at full speed, while another process reads. Run by store-scale.ts.
import { type ScaleStore, writeOn } from './scale-store.ts'
import type { Shape } from './shape.ts'

type Job = Pick<ScaleStore, 'file' | 'from'> & { transfers: number; shape: Shape }

const { transfers, shape, ...store } = JSON.parse(process.argv[2]!) as Job
await writeOn(store, transfers, shape)
