// The files that the image is built from. It builds nothing.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Of the tracked files, those that a line `!path` of .dockerignore lets through. */
export function contextFiles(root: string): string[] {
  const kept = readFileSync(join(root, '.dockerignore'), 'utf8').match(/(?<=^!).+/gm) ?? []
  const patterns = [...kept, ...kept.map(path => `${path}/**`)].map(path => `:(glob)${path}`)
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns]
  const paths = execFileSync('git', listed, { cwd: root, encoding: 'utf8' })
  return paths.split('\n').filter(path => path !== '')
}
