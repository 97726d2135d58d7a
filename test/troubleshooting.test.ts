// The messages that the page on troubleshooting and the guide to whole chains list are those of the code: what a reader
// searches for is what is shown.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { problemKinds } from '../src/status.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(`${root}/docs/troubleshooting.md`, 'utf8')
const guide = readFileSync(`${root}/docs/guides/a-whole-chain.md`, 'utf8')

const sources = ['src', 'bin', 'sandbox/src', 'web/src', 'etc']
  .flatMap(folder =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter(path => /\.(tsx?|js|yaml)$/.test(path) && !/\.test\.tsx?$|(^|\/)(node_modules|dist)\//.test(path))
      .map(path => readFileSync(`${root}/${folder}/${path}`, 'utf8')),
  )
  .join('\n')

/** What is seen in one place or another is held by `troubles.test.ts`, with the names of its chains filled in. */
const byMessage = page.replaceAll(/^\| where \|.*\n(\|.*\n)+/gm, '')
/** The first two cells of each row. What `…` stands for is not looked for. */
const messages = `${byMessage}${guide.slice(guide.indexOf('| message | what to do |'))}`
  .split('\n')
  .filter(line => line.startsWith('| '))
  .flatMap(line => line.split(' | ').slice(0, 2))
  .flatMap(cell => [...cell.matchAll(/`([^`]+)`/g)].map(([, message]) => message!))
  // States and fields are single words, and kinds of failures stand in brackets; a sentence is what can be misquoted.
  .filter(message => message.includes(' ') && !message.includes('  '))

test('there are messages to look for', () => {
  expect(messages.length).toBeGreaterThan(50)
})

test.each(messages)('the code says: %s', message => {
  const parts = message.split('…').map(part => part.trim())
  for (const part of parts.filter(({ length }) => length > 5)) expect(sources.includes(part), part).toBe(true)
})

test('every problem that /ready can name is explained, and so is every alert', () => {
  for (const problem of problemKinds) expect(page).toContain(`| \`${problem}\` |`)
  const rules = readFileSync(`${root}/etc/prometheus/almanac.rules.yaml`, 'utf8')
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, alert]) => alert!)
  expect(alerts.length).toBeGreaterThan(10)
  for (const alert of alerts) expect(page).toContain(`\`${alert}\``)
})
