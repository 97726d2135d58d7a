// What is said of the life of a key: when it was last used, when it ends, and which key takes its place. Pure.
import type { components } from '../../openapi.gen.ts'
import { exactText, spanText } from '../quantities.ts'

type Key = components['schemas']['Key']

/** The newest key that was made to replace it and still works. */
export function successorOf({ id }: Pick<Key, 'id'>, keys: readonly Key[]): Key | undefined {
  return keys.findLast(({ replaces_id, state }) => replaces_id === id && state === 'active')
}

/** Where there is a quota, all that it counts; else the requests of clients. */
export function usedOf({ quota_per_day, used_today, requests_today }: Key): number {
  return quota_per_day === null ? requests_today : used_today
}

/** The service counts by days in UTC, and looks back for 30 of them. */
export function lastUsedText(
  { last_used_on: day, created_at }: Pick<Key, 'last_used_on' | 'created_at'>,
  nowMs: number,
): string {
  if (day === null) return nowMs - Date.parse(created_at ?? '') < 30 * dayMs ? 'never' : 'not in 30 days'
  const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10)
  if (day === dayOf(nowMs)) return 'today'
  return day === dayOf(nowMs - dayMs) ? 'yesterday' : day
}

/** What ends soon is told as the time that is left. */
export function expiryText({ expires_at }: Pick<Key, 'expires_at'>, nowMs: number): string {
  if (expires_at === null) return 'never'
  const leftMs = Date.parse(expires_at) - nowMs
  return leftMs > 0 && leftMs < soonMs
    ? `in ${spanText(leftMs / 1_000)}`
    : exactText(Date.parse(expires_at)).slice(0, 10)
}

const dayMs = 86_400_000
const soonMs = 8 * dayMs
