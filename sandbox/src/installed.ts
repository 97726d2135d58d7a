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

/** What a native package may be called on this machine: npm installs at most one of them. */
export function packageNames(prefix: string): string[] {
  return ['', '-gnu', '-musl'].map(library => `${prefix}-${process.platform}-${process.arch}${library}`)
}

const platforms = ['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64']
const platform = `${process.platform} ${process.arch}`

/** Why no package of this prefix loads, and what to do about it. `here` and `isThere` are for tests. */
export function whyNoneLoads(prefix: string, here = platform, isThere = resolves): string {
  if (!platforms.includes(here)) return `no package of ${prefix} is made for ${here}`
  if (packageNames(prefix).some(isThere)) return `${prefix} is installed and does not load on ${here}`
  return `${prefix} is not installed; install optional packages too, with npm install --include=optional`
}

function resolves(name: string): boolean {
  try {
    require.resolve(name)
    return true
  } catch {
    return false
  }
}
