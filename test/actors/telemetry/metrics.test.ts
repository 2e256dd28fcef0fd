import { describe, expect, test } from 'vitest'
import { METRICS } from '../../../src/actors/telemetry/metric-table.js'
import { type Family, readOpenMetrics } from '../../fakes/openmetrics.js'
import { calls, says, startTestService, type TestService } from '../../fakes/service.js'

const echo = { id: 'echo', permission: 'read', invoke: async ({ value }: { value: string }) => ({ title: 'echo', output: value }) }
const fails = {
  id: 'fails',
  permission: 'read',
  async invoke(): Promise<never> {
    throw new Error('no')
  },
}

async function scrape(service: TestService): Promise<Map<string, Family>> {
  return readOpenMetrics(await service.runtime.metrics.read())
}

function valuesOf(families: Map<string, Family>, name: string) {
  return families.get(name)?.samples.map(({ labels, value }) => ({ ...labels, value }))
}

describe('metrics', () => {
  test('are read by a strict reader, name every metric of the table, and say nothing of what was before the first time', async () => {
    const service = await startTestService({ steps: [says('hi')] })
    const session = await service.session()
    await service.prompt(session, 'hello')
    await service.idle(session)
    const families = await scrape(service)
    const names = Object.keys(METRICS).map((name) => name.replace(/_total$/, ''))
    expect([...families.keys()].toSorted()).toEqual(names.toSorted())
    expect(valuesOf(families, 'svc_runs')).toEqual([])
    expect(families.get('svc_build_info')?.samples.map(({ value }) => value)).toEqual([1])
    expect(families.get('process_resident_memory_bytes')?.samples[0]?.value).toBeGreaterThan(1e6)
  })

  test('count runs, steps, tokens and calls of tools by how they ended', async () => {
    const service = await startTestService({ tools: [echo, fails] })
    await service.runtime.metrics.read()
    const session = await service.session()
    service.steps.push(
      calls({ callId: 'a', tool: 'echo', input: { value: 'a' } }, { callId: 'b', tool: 'fails', input: { value: 'b' } }),
      says('done'),
    )
    await service.prompt(session, 'go')
    await service.idle(session)
    const families = await scrape(service)
    expect(valuesOf(families, 'svc_runs')).toEqual([{ end: 'completed', value: 1 }])
    expect(families.get('svc_run_duration_seconds')?.samples.find(({ name }) => name.endsWith('_count'))?.value).toBe(1)
    expect(valuesOf(families, 'svc_tool_calls')).toEqual([
      { tool: 'echo', end: 'completed', value: 1 },
      { tool: 'fails', end: 'error', value: 1 },
    ])
    const steps = valuesOf(families, 'svc_model_calls')
    expect(steps?.reduce((sum, { value }) => sum + value, 0)).toBe(2)
    expect(steps?.every((each) => 'provider' in each && each['provider'] === 'played')).toBe(true)
    expect(valuesOf(families, 'svc_commits')?.[0]?.value).toBeGreaterThan(0)
  })

  test('name a run that failed by the code of its failure', async () => {
    const service = await startTestService({})
    await service.runtime.metrics.read()
    const session = await service.session()
    service.steps.push(async () => {
      throw new Error('the model is gone')
    })
    await service.prompt(session, 'go')
    await service.idle(session)
    const families = await scrape(service)
    expect(valuesOf(families, 'svc_runs')).toEqual([{ end: 'error', value: 1 }])
    expect(valuesOf(families, 'svc_errors')?.map(({ value }) => value)).toEqual([1])
  })

  test('hear of nothing and answer calls for nothing until they are asked for', async () => {
    const service = await startTestService({})
    const before = service.running.counters()['subscribers']
    service.runtime.metrics.answered('v2.health', 200, 1)
    await service.runtime.metrics.read()
    expect(service.running.counters()['subscribers']).toBe((before ?? 0) + 1)
    service.runtime.metrics.answered('v2.health', 200, 1)
    service.runtime.metrics.answered(undefined, 404, 1)
    const families = await scrape(service)
    expect(valuesOf(families, 'svc_http_requests')).toEqual([
      { operation: 'v2.health', status: '200', value: 1 },
      { operation: 'none', status: '404', value: 1 },
    ])
  })
})
