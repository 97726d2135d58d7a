// The generated pages are what the code would generate now.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedDocs } from '../scripts/generate-docs.ts'

const docs = [...(await generatedDocs())]

test('there are pages to compare', () => {
  expect(docs.map(([path]) => path)).toEqual([
    'docs/settings.md',
    'docs/commands.md',
    'docs/errors.md',
    'docs/metrics.md',
    'docs/spam-rules.md',
    'docs/openapi.json',
  ])
})

test.each(docs)('%s is up to date: npm run generate', (path, text) => {
  expect(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')).toBe(text)
})
