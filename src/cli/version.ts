// The version of this package, as its manifest says.
import { readFileSync } from 'node:fs'

export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return String(manifest.version)
}
