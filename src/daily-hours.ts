// Hours of the day in UTC, such as 22:00-06:00: whether a moment is within them, when they begin again, and how long
// work takes that rests outside of them. Pure.

export type DailyHours = {
  /** Milliseconds after midnight UTC. */
  fromMs: number
  /** Less than a day. */
  lengthMs: number
}

export const dayMs = 86_400_000

/** Undefined for anything else, and for a whole day. */
export function parseHours(text: string): DailyHours | undefined {
  const [from, to, ...rest] = text.split('-').map(timeOfDay)
  if (from === undefined || to === undefined || rest.length > 0 || from === dayMs) return undefined
  const lengthMs = (to - from + dayMs) % dayMs
  return lengthMs === 0 ? undefined : { fromMs: from, lengthMs }
}

function timeOfDay(text: string): number | undefined {
  const parts = /^\s*(\d{1,2}):([0-5]\d)\s*$/.exec(text)
  const minutes = parts === null ? undefined : Number(parts[1]) * 60 + Number(parts[2])
  return minutes === undefined || minutes > 24 * 60 ? undefined : minutes * 60_000
}

export function isWithinHours(hours: DailyHours, nowMs: number): boolean {
  return sinceOpening(hours, nowMs) < hours.lengthMs
}

/** The next beginning after now. */
export function nextOpening(hours: DailyHours, nowMs: number): number {
  return nowMs + dayMs - sinceOpening(hours, nowMs)
}

/** How long until work of this length is done that goes on within the hours alone. */
export function msUntilWorked(hours: DailyHours, nowMs: number, workMs: number): number {
  const sinceMs = sinceOpening(hours, nowMs)
  const leftMs = Math.max(0, hours.lengthMs - sinceMs)
  if (workMs <= leftMs) return workMs
  const restMs = workMs - leftMs
  const wholeDays = Math.ceil(restMs / hours.lengthMs) - 1
  return dayMs - sinceMs + wholeDays * dayMs + restMs - wholeDays * hours.lengthMs
}

function sinceOpening({ fromMs }: DailyHours, nowMs: number): number {
  return (((nowMs - fromMs) % dayMs) + dayMs) % dayMs
}
