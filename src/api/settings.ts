// What an operator can set about the HTTP side. The table of settings has the defaults and says what each means.
import { type Config, settingsSchema } from '../config/settings.ts'

export type ApiSettings = Config['limits'] & {
  /** Unset: each request decides. */
  dialect?: Config['dialect']
  /** `/status`, `/metrics` and `/events` answer without a key. */
  opsOpen: boolean
  /** `*` or exact origins. */
  corsOrigins: readonly string[]
}

export function apiSettingsOf({ limits, dialect, ops_open: opsOpen, cors }: Config): ApiSettings {
  return { ...limits, dialect, opsOpen, corsOrigins: cors.origins }
}

export const defaultApiSettings: ApiSettings = apiSettingsOf(settingsSchema.parse({}))
