// The log: JSON lines on stderr, or readable lines on a terminal, and a throttle for lines that repeat. Every line
// loses keys and the secret parts of URLs.
import { pino } from 'pino'
import { plainText } from './plain-text.ts'
import { redactText } from './redact.ts'

export type Log = pino.Logger
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

/**
 * A line may have the field `told`: what a person reads instead of its message and fields. JSON lines leave it out.
 */
export type LogOptions = {
  level: LogLevel
  format: 'json' | 'text'
  colours?: boolean
  /** Texts that must never appear, such as the operator's key. */
  hidden?: readonly string[]
  write?: (line: string) => void
}

export function createLog({ level, format, colours = false, hidden = [], write = writeToStderr }: LogOptions): Log {
  const secrets = hidden.filter(text => text !== '').map(text => JSON.stringify(text).slice(1, -1))
  const redact = (line: string) => secrets.reduce((text, secret) => text.replaceAll(secret, '…'), redactText(line))
  const stream = {
    write: (line: string) => {
      const safe = redact(line)
      write(format === 'json' ? safe : readable(safe, colours))
    },
  }
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: label => ({ level: label }),
        log: facts => (format === 'json' && 'told' in facts ? { ...facts, told: undefined } : facts),
      },
      redact: { paths: ['key', 'secret', 'apiKey', 'headers["x-api-key"]', 'headers.authorization'], censor: '…' },
    },
    stream,
  )
}

/** Logs the first of many equal failures at once, and then once per interval how often it was repeated. */
export class LogThrottle {
  readonly #intervalMs: number
  readonly #nowMs: () => number
  readonly #subjects = new Map<string, { saidAtMs: number; repeated: number }>()

  constructor(intervalMs = 30_000, nowMs: () => number = () => performance.now()) {
    this.#intervalMs = intervalMs
    this.#nowMs = nowMs
  }

  /** Calls `say` at most once per interval, with the number of calls that were skipped since. */
  say(subject: string, say: (repeated: number) => void): void {
    const now = this.#nowMs()
    const last = this.#subjects.get(subject)
    if (last !== undefined && now - last.saidAtMs < this.#intervalMs) {
      last.repeated++
      return
    }
    if (last === undefined && this.#subjects.size >= 1_000) this.#subjects.delete(this.#subjects.keys().next().value!)
    this.#subjects.set(subject, { saidAtMs: now, repeated: 0 })
    say(last?.repeated ?? 0)
  }
}

function writeToStderr(line: string): void {
  process.stderr.write(line)
}

const levelColours: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 32, debug: 34, trace: 90 }

function readable(line: string, colours: boolean): string {
  const { time, level, msg, err, told, ...fields } = JSON.parse(line) as Record<string, unknown>
  const paint = (text: string, code: number) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)
  const clock = String(time).slice(11, 19)
  const name = paint(String(level).padEnd(5), levelColours[String(level)] ?? 0)
  if (told !== undefined) return `${[clock, name, plain(told)].join(' ')}\n`
  const rest = Object.entries(fields).map(([key, value]) => paint(`${key}=${plain(value)}`, 90))
  const cause = err === undefined ? [] : [plain((err as { message?: unknown }).message)]
  return `${[clock, name, plain(msg), ...cause, ...rest].join(' ')}\n`
}

/** One line without characters that a terminal would obey. */
function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return plainText(text ?? '', ' ')
}
