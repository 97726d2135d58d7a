// A clock that runs faster than the real one, for a transport whose rests and pauses a test would wait for. Time-outs of
// requests stay as long as they are.
import { type Clock, realClock } from '../../src/abort.ts'

export function hastyClock(times: number): Clock {
  const origin = realClock.now()
  return {
    now: () => origin + (realClock.now() - origin) * times,
    after: (ms, callback) => realClock.after(ms / times, callback),
  }
}
