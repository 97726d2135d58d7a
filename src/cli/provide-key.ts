// Sees to it that a starting service has a key: the operator's own from ALMANAC_KEY, or one made for an empty store.
import { issueKey, registerOperatorKey } from '../keys/keys.ts'
import { scopes } from '../keys/scopes.ts'
import type { Log } from '../log.ts'
import type { KeyStore } from '../store/key-store.ts'
import { commandLine } from './command-line.ts'
import { printNote } from './terminal.ts'

const lengthAdvised = 16

/** `known` is a key that nobody needs to be told of: the sandbox's. */
export async function registerKnownKey(store: KeyStore, log: Log, known?: string): Promise<void> {
  const secret = known ?? process.env.ALMANAC_KEY ?? ''
  if (secret === '') return
  await registerOperatorKey(store, secret)
  if (known === undefined && secret.length < lengthAdvised)
    log.warn(`ALMANAC_KEY is shorter than ${lengthAdvised} characters: it can be guessed.`)
}

/** Only once the service listens: a start that fails would have shown a key that nobody looks for, and no start shows it again. */
export async function provideFirstKey(store: KeyStore, consoleUrl: string | undefined): Promise<void> {
  if ((await store.keys()).length > 0) return
  const { secret } = await issueKey(store, { name: 'first', scopes })
  const console = consoleUrl === undefined ? '' : `\n  Console:  ${consoleUrl}#key=${encodeURIComponent(secret)}\n`
  // Past the log on purpose: logs are kept and shipped, and the secret must exist in one place only.
  printNote(`
  The store is new, so a key with every scope was made. It is shown only now:

      ${secret}
${console}
  Send it as the header X-API-Key; the console asks for it too. More keys: ${commandLine} keys create --help
`)
}
