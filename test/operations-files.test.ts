// What etc/ hands to other programs names only what exists: metrics and labels, commands and settings.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

type Panel = { type: string; title: string; targets?: { expr: string }[] }
type Rule = { alert: string; expr: string; annotations: { summary: string; action: string } }

const dashboard: { panels: Panel[] } = JSON.parse(read('etc/grafana/almanac.json'))
const rules: Rule[] = parse(read('etc/prometheus/almanac.rules.yaml')).groups[0].rules

/** Name to labels, as the page of metrics has them. */
const metrics = new Map(
  [...read('docs/metrics.md').matchAll(/^\| `(almanac_\w+)` \| \w+ \| (.*?) \|/gm)].map(([, name, labels]) => [
    String(name),
    [...String(labels).matchAll(/`(\w+)`/g)].map(([, label]) => String(label)),
  ]),
)

const expressions: [string, string][] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr])),
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
]

test('there is something to check', () => {
  expect(metrics.size).toBeGreaterThan(15)
  expect(expressions.length).toBeGreaterThan(25)
  for (const { type, targets } of dashboard.panels) expect(type === 'row' || targets?.length).toBeTruthy()
})

test.each(expressions)('%s asks for metrics and labels that exist: %s', (_, expression) => {
  const names = expression.match(/\b(almanac|process|nodejs)_\w+|\bup\b/g) ?? []
  expect(names).not.toEqual([])
  const labels = new Set(['instance', 'job', 'le'])
  for (const name of names) {
    if (name === 'nodejs_gc_duration_seconds_count') labels.add('kind')
    if (!name.startsWith('almanac_')) continue
    const known = metrics.get(name.replace(/_(bucket|count|sum)$/, '')) ?? metrics.get(name)
    expect(known, name).toBeDefined()
    for (const label of known ?? []) labels.add(label)
  }
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => String(list).split(/, */))
  const matched = [...expression.matchAll(/(\w+)=?[=~!]~?"/g)].map(([, label]) => String(label))
  for (const label of [...grouped, ...matched]) expect([...labels], expression).toContain(label.replace(/!$/, ''))
})

test('every alert says what is wrong and what to do', () => {
  for (const { annotations } of rules) expect(Object.values(annotations).every(text => text.endsWith('.'))).toBe(true)
})

test.each(readdirSync(new URL('../etc', import.meta.url)).filter(name => name.startsWith('compose.')))(
  '%s gives every container of ours a read-only root, no capabilities and a volume for data',
  name => {
    const { services } = parse(read(`etc/${name}`), { merge: true }) as {
      services: Record<string, Record<string, unknown>>
    }
    const ours = Object.values(services).filter(({ image }) => image === 'almanac')
    expect(ours.length).toBeGreaterThan(0)
    for (const service of ours)
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    const settings = read('docs/settings.md')
    for (const { environment } of ours)
      for (const variable of Object.keys(environment as object))
        if (variable !== 'ALMANAC_KEY') expect(settings).toContain(`\`${variable}\``)
  },
)

const analyser = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!analyser)('systemd understands the unit', () => {
  const path = new URL('../etc/almanac.service', import.meta.url).pathname
  const { stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})
