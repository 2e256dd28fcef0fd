import { expect, test } from 'vitest'
import { BUCKETS } from '../../../src/actors/telemetry/metric-table.js'
import { createMeter } from '../../../src/actors/telemetry/registry.js'
import { type Family, readOpenMetrics } from '../../fakes/openmetrics.js'

function samplesOf(families: Map<string, Family>, name: string) {
  return families.get(name)?.samples ?? []
}

test('what was observed stands in every bucket that it fits, the bound itself included, with its sum and its count', async () => {
  const meter = createMeter()
  for (const seconds of [-1, 0.02, 0.021, 5000]) meter.observe('svc_run_duration_seconds', {}, seconds)
  const samples = samplesOf(readOpenMetrics(await meter.text()), 'svc_run_duration_seconds')
  const buckets = samples.filter(({ name }) => name.endsWith('_bucket'))
  expect(buckets.map(({ labels }) => labels['le'])).toEqual([...BUCKETS.map(String), '+Inf'])
  expect(buckets.map(({ value }) => value)).toEqual([1, 2, ...BUCKETS.slice(2).map(() => 3), 4])
  const others = samples.filter(({ name }) => !name.endsWith('_bucket')).map(({ name, value }) => [name.replace(/.*_/, ''), value])
  expect(Object.fromEntries(others)).toEqual({ sum: 5000.041, count: 4 })
})

test('values of a label beyond 200 are one, and what is replaced is forgotten', async () => {
  const meter = createMeter()
  for (let n = 0; n < 300; n++) meter.add('svc_tool_calls_total', { tool: `tool "${n}"`, end: 'completed' })
  meter.add('svc_tool_calls_total', { tool: 'tool "7"', end: 'completed' }, 4)
  meter.add('svc_tool_calls_total', { tool: 'tool "299"', end: 'completed' }, 5)
  meter.replace('svc_plugins', [[{ state: 'active' }, 3]])
  meter.replace('svc_plugins', [[{ state: 'failed' }, 1]])
  meter.set('svc_commits_total', {}, 9)
  meter.set('svc_commits_total', {}, 11)
  const families = readOpenMetrics(await meter.text())
  const calls = samplesOf(families, 'svc_tool_calls')
  expect(calls).toHaveLength(201)
  const counted = new Map(calls.map(({ labels, value }) => [labels['tool'], value]))
  expect([counted.get('tool "7"'), counted.get('other')]).toEqual([5, 105])
  expect(samplesOf(families, 'svc_plugins').map(({ labels, value }) => [labels['state'], value])).toEqual([['failed', 1]])
  expect(samplesOf(families, 'svc_commits').map(({ value }) => value)).toEqual([11])
})
