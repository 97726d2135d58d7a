// The manifests of etc/kubernetes name what exists: commands, settings, ports, probes, secrets and volumes.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { createProgram } from '../src/cli/program.ts'
import { loadConfig } from '../src/config/load.ts'

type Probe = { httpGet: { path: string; port: string } }
type Container = {
  args: string[]
  env: { name: string; valueFrom: { secretKeyRef: { name: string; key: string } } }[]
  ports: { name: string; containerPort: number }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  resources: { requests: Record<string, string>; limits: Record<string, string> }
  securityContext: object
  volumeMounts: { name: string; mountPath: string }[]
}
type Volume = { name: string; secret?: { secretName: string; items: { key: string; path: string }[] } }
type Pod = { securityContext: object; enableServiceLinks: boolean; containers: Container[]; volumes: Volume[] }
type Manifest = {
  kind: string
  metadata: { name: string }
  stringData: Record<string, string>
  spec: {
    selector: Record<string, string> & { matchLabels?: Record<string, string> }
    template: { metadata: { labels: Record<string, string> }; spec: Pod }
    volumeClaimTemplates?: { metadata: { name: string } }[]
    ports: { targetPort: string }[]
  }
}

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const files = readdirSync(new URL('../etc/kubernetes', import.meta.url))

function manifestsOf(file: string): Manifest[] {
  return parseAllDocuments(read(`etc/kubernetes/${file}`)).map(document => {
    expect(document.errors).toEqual([])
    return document.toJS() as Manifest
  })
}

const workloadsOf = (file: string) =>
  manifestsOf(file).filter(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment')

test('there are manifests for a file and for a server', () => {
  expect(files).toEqual(['one-file.yaml', 'postgres.yaml'])
  expect(files.map(file => workloadsOf(file).length)).toEqual([1, 2])
})

test.each(files)('%s runs commands and settings that exist', async file => {
  const program = await createProgram('start')
  const settings = read('docs/settings.md')
  const [secret] = manifestsOf(file).filter(({ kind }) => kind === 'Secret')
  for (const { spec } of workloadsOf(file)) {
    const [{ args, env }] = spec.template.spec.containers as [Container]
    const [name, ...flags] = args
    const command = program.commands.find(each => each.name() === name)!
    const { operands, unknown } = command.parseOptions(flags)
    expect({ operands, unknown }).toEqual({ operands: [], unknown: [] })
    for (const { name: variable, valueFrom } of env) {
      if (variable !== 'ALMANAC_KEY') expect(settings).toContain(`\`${variable}\``)
      expect(valueFrom.secretKeyRef.name).toBe(secret!.metadata.name)
      expect(Object.keys(secret!.stringData)).toContain(valueFrom.secretKeyRef.key)
    }
  }
})

test.each(files)('the configuration of %s is valid', file => {
  const [secret] = manifestsOf(file).filter(({ kind }) => kind === 'Secret')
  const { 'almanac.yaml': text, ALMANAC_KEY: key, ...environment } = secret!.stringData
  expect(key!.length).toBeGreaterThan(16)
  const folder = mkdtempSync(join(tmpdir(), 'almanac-kubernetes-'))
  try {
    const path = join(folder, 'almanac.yaml')
    writeFileSync(path, text!)
    const { config, warnings } = loadConfig({ file: path, environment })
    expect(warnings).toEqual([])
    expect(Object.keys(config.chains)).toEqual(['eth'])
    expect(config.store).toMatch(file === 'postgres.yaml' ? /^postgres:/ : /^file:\/data\//)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.each(files)('%s asks the open routes of the port that the image listens on', file => {
  const { paths }: { paths: Record<string, { get?: { security?: unknown[] } }> } = JSON.parse(read('docs/openapi.json'))
  const port = Number(/^EXPOSE (\d+)$/m.exec(read('Dockerfile'))![1])
  for (const { spec } of workloadsOf(file)) {
    const [container] = spec.template.spec.containers as [Container]
    expect(container.ports).toEqual([{ name: 'http', containerPort: port }])
    // A process that only indexes opens no port.
    expect(container.args.join(' ')).not.toContain('--only index')
    for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      expect(paths[httpGet.path]?.get?.security).toEqual([])
      expect(httpGet.port).toBe('http')
    }
    expect([container.livenessProbe, container.readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
      '/health',
      '/ready',
    ])
  }
})

test.each(files)('%s gives each pod few rights, limits and the volumes that it mounts', file => {
  for (const { spec } of workloadsOf(file)) {
    const { volumes, containers, enableServiceLinks, securityContext } = spec.template.spec
    expect(enableServiceLinks).toBe(false)
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 })
    const [container] = containers as [Container]
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(Object.keys(container.resources.limits)).toContain('memory')
    const claims = spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? []
    const known = [...volumes.map(({ name }) => name), ...claims]
    for (const { name } of container.volumeMounts) expect(known).toContain(name)
    expect(container.volumeMounts.map(({ mountPath }) => mountPath).sort()).toEqual(['/data', '/etc/almanac', '/tmp'])
    const configured = container.args[container.args.indexOf('--config') + 1]
    const [secret] = volumes.flatMap(volume => volume.secret ?? [])
    expect(secret!.items.map(({ path }) => `/etc/almanac/${path}`)).toContain(configured)
  }
})

test.each(files)('the service of %s finds its pods', file => {
  const [service] = manifestsOf(file).filter(({ kind }) => kind === 'Service')
  const labels = workloadsOf(file).map(({ spec }) => spec.template.metadata.labels)
  const wanted = Object.entries(service!.spec.selector)
  const found = labels.filter(each => wanted.every(([name, value]) => each[name] === String(value)))
  expect(found).toHaveLength(1)
  expect(service!.spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http'])
  for (const { spec } of workloadsOf(file)) expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels)
})
