// Tells whether a package loads on this machine: a native one may be installed and still fail to.
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
