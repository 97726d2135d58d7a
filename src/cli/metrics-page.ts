// The page of all metrics, written from the metrics themselves.
import type { Metrics } from '../metrics.ts'

const opening = `# Metrics

Written by \`npm run generate\` from \`src/metrics.ts\`; do not edit.

\`GET /metrics\` answers in the text format of Prometheus, to a key with the scope \`ops\` or to everybody with \`ops_open: true\`. No
label holds an address or a key. Metrics of the process and of Node.js (\`process_…\`, \`nodejs_…\`) are added as prom-client
names them.

| metric | type | labels | meaning |
|---|---|---|---|
`

type Described = { name: string; help: string; labelNames?: readonly string[] }

export async function metricsPage(metrics: Metrics): Promise<string> {
  const described = await metrics.registry.getMetricsAsJSON()
  const rows = described.map(({ name, type, help }) => {
    const metric = metrics.registry.getSingleMetric(name) as Described | undefined
    const labels = (metric?.labelNames ?? []).map(label => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${labels} | ${help} |`
  })
  return `${opening}${rows.sort().join('\n')}\n`
}
