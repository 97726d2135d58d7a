// The page of all metrics, written from the metrics themselves.
import type { Registry } from 'prom-client'

const opening = `# Metrics

Written by \`npm run generate\` from \`src/metrics.ts\`; do not edit.

\`GET /metrics\` answers in the text format of Prometheus, to a key with the scope \`ops\` or to everybody with \`ops_open: true\`. No
label holds an address or a key. Metrics of the process and of Node.js (\`process_…\`, \`nodejs_…\`) are added as prom-client
names them.

| metric | type | labels | meaning |
|---|---|---|---|
`

type Described = { name: string; help: string; labelNames?: readonly string[] }

export async function metricsPage(registries: readonly Registry[]): Promise<string> {
  const rows = await Promise.all(registries.map(metricRows))
  return `${opening}${rows.flat().sort().join('\n')}\n`
}

async function metricRows(registry: Registry): Promise<string[]> {
  const described = await registry.getMetricsAsJSON()
  return described.map(({ name, type, help }) => {
    const metric = registry.getSingleMetric(name) as Described | undefined
    const labels = (metric?.labelNames ?? []).map(label => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${labels} | ${help} |`
  })
}
