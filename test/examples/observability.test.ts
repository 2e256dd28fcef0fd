/** Dashboard and alerts name metrics that there are, with labels that they have. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { METRICS, type Metric } from '../../src/actors/telemetry/metric-table.js'

const FOLDER = join(import.meta.dirname, '..', '..', 'examples', 'observability')
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const metrics: Readonly<Record<string, Metric>> = METRICS
/** Labels that Prometheus gives. */
const OUTSIDE = new Set(['job', 'instance', 'le'])

/** What is wrong with an expression of PromQL. */
function faults(expression: string): string[] {
  const named = [...expression.matchAll(/\b((?:svc|process)_\w+)(?:\{([^}]*)\})?/g)]
  if (named.length === 0) return [`${expression}: names no metric`]
  const known = new Set<string>()
  const unknown = named.flatMap(([, name = '']) => {
    const metric = metrics[name] ?? metrics[name.replace(/_(?:bucket|sum|count)$/, '')]
    for (const label of metric?.labels ?? []) known.add(label)
    return metric === undefined || (metrics[name] === undefined && metric.type !== 'histogram')
      ? [`${expression}: there is no ${name}`]
      : []
  })
  const selected = named.flatMap(([, , labels = '']) => [...labels.matchAll(/(\w+)\s*=/g)].map(([, label = '']) => label))
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/))
  const strange = [...selected, ...grouped].filter((label) => !known.has(label) && !OUTSIDE.has(label))
  return [...unknown, ...strange.map((label) => `${expression}: no metric of it has the label ${label}`)]
}

test('the dashboard names what is counted', () => {
  const { panels } = JSON.parse(read('dashboard.json')) as {
    panels: { title: string; targets: { expr: string; legendFormat: string }[] }[]
  }
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  expect(expressions.flatMap(faults)).toEqual([])
  expect(expressions.length).toBeGreaterThan(20)
})

test('the alerts name what is counted', () => {
  const expressions = [...read('alerts.yml').matchAll(/^ *expr: (.*)$/gm)].map(([, expression = '']) => expression)
  expect(expressions).toHaveLength(4)
  expect(expressions.flatMap(faults)).toEqual([])
})

test('what is not counted is noticed', () => {
  expect(faults('rate(svc_runs[5m])')).toEqual(['rate(svc_runs[5m]): there is no svc_runs'])
  expect(faults('sum by (colour) (svc_runs_total{shape="x"})')).toHaveLength(2)
})
