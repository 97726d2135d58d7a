// Says that an answer is on its way.
import { Skeleton } from './skeleton.tsx'

export function Waiting() {
  return <Skeleton rows={4} />
}
