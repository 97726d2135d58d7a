// Tells whether a package loads on this machine, and why none does: a native one may be installed and still fail to.
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

export type NodePackages = {
  /** What people call them. */
  called: string
  names: readonly string[]
  /** Where npm installs one of them. */
  platforms: readonly string[]
}

const platform = `${process.platform} ${process.arch}`

/** Why none of the packages loads, and what to do about it. `isThere` is for tests. */
export function whyNoneLoads({ called, names, platforms }: NodePackages, here = platform, isThere = resolves): string {
  if (!platforms.includes(here)) return `no package of ${called} is made for ${here}`
  if (names.some(isThere)) return `${called} is installed and does not load on ${here}`
  return `${called} is not installed; install optional packages too, with npm install --include=optional`
}

function resolves(name: string): boolean {
  try {
    require.resolve(name)
    return true
  } catch {
    return false
  }
}
