// A checkout as it is cloned and installed, without what its developer or earlier runs may have put there.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

export class Checkout {
  readonly directory = mkdtempSync(join(tmpdir(), 'almanac-checkout-'))

  constructor() {
    // What git ignores may be gigabytes.
    const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
    const paths = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0')
    for (const path of paths) {
      // A file that was removed is listed until that is committed.
      if (path === '' || !existsSync(join(root, path))) continue
      mkdirSync(dirname(join(this.directory, path)), { recursive: true })
      copyFileSync(join(root, path), join(this.directory, path))
    }
    symlinkSync(join(root, 'node_modules'), join(this.directory, 'node_modules'))
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}
