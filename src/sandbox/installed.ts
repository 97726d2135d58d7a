// Whether a package is installed and runs on this machine: native ones may be there and not load.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export function loads(name: string): boolean {
  try {
    require(name)
    return true
  } catch {
    return false
  }
}
