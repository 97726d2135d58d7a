// A checkout as it is cloned and installed, without what its developer or earlier runs may have put there.
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const leftOut = new Set(['node_modules', 'dist', '.git', 'almanac.yaml'])

export class Checkout {
  readonly directory = mkdtempSync(join(tmpdir(), 'almanac-checkout-'))

  constructor() {
    const isCloned = (path: string): boolean => !leftOut.has(basename(path)) && !/\.db(-\w+)?$/.test(path)
    cpSync(root, this.directory, { recursive: true, filter: isCloned })
    symlinkSync(join(root, 'node_modules'), join(this.directory, 'node_modules'))
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}
