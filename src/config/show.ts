// The configuration as it may be shown: secrets hidden, everything else as it is in force.
import { redactStore, redactUrl } from '../redact-url.ts'
import { aboutOf, schemaAt } from './setting.ts'
import { type Config, settingsSchema } from './settings.ts'

export function shownConfig(config: Config): Record<string, unknown> {
  return hideSecrets(config, []) as Record<string, unknown>
}

function hideSecrets(value: unknown, path: readonly PropertyKey[]): unknown {
  const secret = aboutOf(schemaAt(settingsSchema, path))?.secret
  if (Array.isArray(value)) return value.map((item, index) => hideSecrets(item, [...path, index]))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, hideSecrets(child, [...path, key])]))
  }
  if (typeof value !== 'string' || secret === undefined) return value
  return secret === 'store' ? redactStore(value) : redactUrl(value)
}
