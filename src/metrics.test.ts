import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'

test('every service counts for itself', async () => {
  const one = createMetrics()
  const other = createMetrics()
  one.http.shed.inc()
  expect(await one.registry.metrics()).toContain('almanac_http_requests_shed_total 1\n')
  expect(await other.registry.metrics()).toContain('almanac_http_requests_shed_total 0\n')
})

test('names follow Prometheus: our prefix, base units, _total for counters, a sentence of help', async () => {
  const described = await createMetrics().registry.getMetricsAsJSON()
  expect(described.length).toBeGreaterThan(3)
  for (const { name, type, help } of described) {
    expect(name).toMatch(/^almanac_[a-z_]+$/)
    expect(name).not.toMatch(/_(ms|milliseconds|kb|mb|percent)(_|$)/)
    expect(name.endsWith('_total')).toBe(String(type) === 'counter')
    expect(help).toMatch(/^[A-Z].*\.$/)
  }
})

test('metrics of the process are added when asked for', async () => {
  expect(await createMetrics({ ofProcess: true }).registry.metrics()).toContain('process_resident_memory_bytes')
  expect(await createMetrics().registry.metrics()).not.toContain('process_')
})

test('what is not known of the store is absent: a 0 would raise alarms', async () => {
  expect(await createMetrics().registry.metrics()).not.toMatch(/^almanac_store_/m)
})
