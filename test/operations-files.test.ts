// What etc/ hands to other programs names only what exists: metrics and labels, commands and settings.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    // The image can be that of a release. The published package has these files and no Dockerfile: they build nothing.
    const ours = Object.values(services).filter(({ image }) => /^\$\{ALMANAC_IMAGE:-almanac\}$/.test(String(image)))
    expect(ours).toHaveLength(Object.keys(services).filter(service => service !== 'database').length)
    for (const service of ours) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
      expect(service).not.toHaveProperty('build')
    }
    const settings = read('docs/settings.md')
    for (const { environment } of ours)
      for (const variable of Object.keys(environment ?? {}))
        if (variable !== 'ALMANAC_KEY') expect(settings).toContain(`\`${variable}\``)
  },
)

test.each(['compose.sqlite.yaml', 'compose.postgres.yaml'])('%s hands a private configuration to the service', name => {
  type Service = { image: string; user?: string; entrypoint: string[]; volumes: string[]; depends_on: object }
  const { services } = parse(read(`etc/${name}`), { merge: true }) as { services: Record<string, Service> }
  const { configuration, database: _, ...ours } = services
  expect(configuration?.user).toBe('root')
  for (const { user, volumes, depends_on } of Object.values(ours)) {
    expect(user).toBeUndefined()
    expect(volumes).toContain('configuration:/etc/almanac:ro')
    expect(depends_on).toMatchObject({ configuration: { condition: 'service_completed_successfully' } })
  }
})

test.skipIf(process.getuid?.() !== 0)('the step that hands it over makes a file that only the service can read', () => {
  const { services } = parse(read('etc/compose.sqlite.yaml'))
  const folder = mkdtempSync(join(tmpdir(), 'almanac-compose-'))
  try {
    chmodSync(folder, 0o755)
    const [given, target] = [join(folder, 'given.yaml'), join(folder, 'almanac.yaml')]
    writeFileSync(given, 'chains: {}\n', { mode: 0o600 })
    // The user `node` of the image has the id 1000.
    const words: string[] = services.configuration.entrypoint.map((word: string) => (word === 'node' ? '1000' : word))
    const [program, ...rest] = [...words.slice(0, -2), given, target]
    expect(spawnSync(program!, rest).status).toBe(0)
    const readAs = (uid: number, path: string) => spawnSync('cat', [path], { uid, gid: uid }).status
    expect([readAs(1000, given), readAs(1000, target), readAs(1001, target)]).toEqual([1, 0, 1])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const workflows = readdirSync(new URL('../.github/workflows', import.meta.url))

test.each(workflows)('%s names every action by commit, with its version', name => {
  const uses = [...read(`.github/workflows/${name}`).matchAll(/uses: (.*)$/gm)].map(([, action]) => action)
  expect(uses.length).toBeGreaterThan(0)
  for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
})

test('what publishes a release runs nothing of other people, and what is tested is audited', () => {
  type Job = { permissions?: Record<string, string>; needs?: string[]; steps: { run?: string }[] }
  const { permissions, jobs } = parse(read('.github/workflows/release.yaml')) as {
    permissions: object
    jobs: Record<string, Job>
  }
  expect(permissions).toEqual({ contents: 'read' })
  const mayPublish = Object.entries(jobs).filter(([, job]) => job.permissions?.['id-token'] === 'write')
  expect(mayPublish.map(([name]) => name)).toEqual(['publish', 'image'])
  for (const [, { steps, needs }] of mayPublish) {
    expect(needs).toContain('test')
    for (const { run = '' } of steps) expect(run).not.toMatch(/npm (ci|install|test|run|pack)|\.ci\/run|npx/)
  }
  const { jobs: tested } = parse(read('.github/workflows/test.yaml')) as { jobs: Record<string, Job> }
  expect(tested.test!.steps.map(({ run }) => run)).toContain('npm audit --omit=dev')
})

test('a release is made with what is pinned: images by digest, and each action by the commit of its version', () => {
  type Job = { steps: { run?: string; uses?: string }[] }
  const { jobs } = parse(read('.github/workflows/release.yaml')) as { jobs: Record<string, Job> }
  const firstOf = (job: string, what: RegExp) =>
    jobs[job]!.steps.findIndex(({ run, uses }) => what.test(run ?? uses ?? ''))
  for (const [job, makes] of [
    ['pack', /pack-release\.sh/],
    ['image', /build-push-action/],
  ] as const) {
    expect(firstOf(job, /scripts\/pin\.sh/)).toBeGreaterThan(0)
    expect(firstOf(job, /scripts\/pin\.sh/)).toBeLessThan(firstOf(job, makes))
  }
  const pinned = jobs.pack!.steps[firstOf('pack', /pin\.sh/)]!.run!
  const folder = mkdtempSync(join(tmpdir(), 'almanac-pin-'))
  try {
    for (const path of ['.github/workflows', 'etc', 'scripts', 'bin'])
      mkdirSync(join(folder, path), { recursive: true })
    for (const path of ['scripts/pin.sh', 'Dockerfile', 'etc/compose.postgres.yaml', '.github/workflows/test.yaml'])
      writeFileSync(join(folder, path), read(path))
    spawnSync('sh', ['-c', 'git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm all'], {
      cwd: folder,
    })
    const digest = `sha256:${'d'.repeat(64)}`
    writeFileSync(join(folder, 'bin/docker'), `#!/bin/sh\necho ${digest}\n`, { mode: 0o755 })
    const pin = (commitOf: (action: string) => string) => {
      const known = [...read('.github/workflows/test.yaml').matchAll(/uses: (.*)@(\S+) #/g)].map(
        ([, action, commit]) => `*${action}) echo "${commitOf(commit!)}\tref" ;;`,
      )
      const git = `#!/bin/sh\n[ "$1" = ls-remote ] || exec /usr/bin/env PATH="\${PATH#*:}" git "$@"\ncase $2 in\n${known.join('\n')}\nesac\n`
      writeFileSync(join(folder, 'bin/git'), git, { mode: 0o755 })
      const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
      return spawnSync('bash', ['-ec', pinned], { cwd: folder, encoding: 'utf8', env })
    }
    expect(pin(commit => commit)).toMatchObject({ status: 0, stderr: '' })
    const after = (path: string) => readFileSync(join(folder, path), 'utf8')
    expect(after('Dockerfile').match(/^FROM node:.*$/gm)).toEqual([
      expect.stringContaining(`@${digest} AS build`),
      expect.stringContaining(`@${digest} AS service`),
    ])
    expect(after('etc/compose.postgres.yaml')).toContain(`postgres:18-trixie@${digest}\n`)
    // A commit that is not that of its version ends the release.
    expect(pin(() => 'e'.repeat(40)).status).not.toBe(0)
    expect(pin(() => '').stderr).toContain('Not resolved: actions/checkout v')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a tag is not packed while changes are unreleased', () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-release-'))
  try {
    for (const path of ['scripts', 'sandbox']) mkdirSync(join(folder, path))
    writeFileSync(join(folder, 'scripts/pack-release.sh'), read('scripts/pack-release.sh'))
    // What comes after the checks ends here.
    const sbom = `node -p "'packing ' + require('./package.json').version" >&2; exit 3`
    const manifest = JSON.stringify({ version: '1.2.3', scripts: { sbom } })
    for (const path of ['.', 'sandbox']) writeFileSync(join(folder, path, 'package.json'), manifest)
    const pack = (unreleased: string, ...tag: string[]) => {
      writeFileSync(join(folder, 'CHANGELOG.md'), `## Unreleased\n\n${unreleased}## 1.2.3 - 2026-01-01\n\n- First.\n`)
      const { status, stderr } = spawnSync('sh', ['scripts/pack-release.sh', 'made', ...tag], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect(status).not.toBe(0)
      return stderr
    }
    expect(pack('- Changed.\n\n', 'v1.2.3')).toContain('CHANGELOG.md has changes under "## Unreleased"')
    expect(pack('', 'v1.2.4')).toContain('The tag v1.2.4 is not v1.2.3')
    for (const stderr of [pack('', 'v1.2.3'), pack('')]) expect(stderr).toContain('packing 1.2.3\n')
    // Nothing takes it for a released one, and the checkout stays as it was.
    expect(pack('- Changed.\n\n')).toMatch(/^packing 1\.2\.4-dev\.g[0-9a-f]+$/m)
    for (const path of ['.', 'sandbox']) expect(readFileSync(join(folder, path, 'package.json'), 'utf8')).toBe(manifest)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const analyser = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!analyser)('systemd understands the unit', () => {
  const path = new URL('../etc/almanac.service', import.meta.url).pathname
  const { stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})
