// The generated pages are what the code would generate now.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedDocs, settingsPage } from '../scripts/generate-docs.ts'
import { allLeaves } from '../src/config/overrides.ts'

const docs = [...(await generatedDocs())]

test('there are pages to compare', () => {
  expect(docs.map(([path]) => path)).toEqual([
    'docs/settings.md',
    'docs/commands.md',
    'docs/errors.md',
    'docs/operations.md',
    'docs/metrics.md',
    'docs/spam-rules.md',
    'README.md',
    'docs/scale.md',
    'docs/guides/a-whole-chain.md',
    'docs/pictures/benchmark.svg',
    'docs/openapi.json',
  ])
})

test.each(docs)('%s is up to date: npm run generate', (path, text) => {
  expect(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')).toBe(text)
})

test('a setting that no section lists is refused', () => {
  const leaf = { ...allLeaves[0]!, path: ['archive', 'folder'] }
  expect(() => settingsPage([...allLeaves, leaf])).toThrow('No section of the page lists archive.folder.')
})

test('every route that ops_open opens is named where ops_open is', () => {
  const { paths }: { paths: Record<string, Record<string, { summary: string }>> } = JSON.parse(
    new Map(docs).get('docs/openapi.json')!,
  )
  const opened = Object.entries(paths)
    .filter(([, operations]) => operations.get?.summary.endsWith('unless the operator opened it'))
    .map(([path]) => path)
  expect(opened).toContain('/status')
  const guide = readFileSync(new URL('../docs/guides/operating.md', import.meta.url), 'utf8')
  const operations = guide.split('## Who may call what\n')[1]!
  const { about } = allLeaves.find(({ path }) => path.join('.') === 'ops_open')!
  for (const path of opened) for (const text of [about, operations]) expect(text).toContain(path)
})
