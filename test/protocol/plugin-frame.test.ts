// Holds plugin-protocol §4.3, §6.2.
import { describe, expect, test } from 'vitest'
import { parseInitializeReply } from '../../src/actors/plugin/link/initialize.js'
import { InitializeReply, isSameOwner, PluginFrame, PluginOwner } from '../../src/protocol/plugin/plugin-frame.js'

describe('wire vectors', () => {
  test('an owner with the two required fields has no others', () => {
    const owner = PluginOwner.parse({ pluginId: 'a.b', instanceId: 'plugin-instance-1', scope: null })
    expect(JSON.stringify(owner)).toBe('{"pluginId":"a.b","instanceId":"plugin-instance-1"}')
    expect(isSameOwner(owner, { pluginId: 'a.b', instanceId: 'plugin-instance-1' })).toBe(true)
    expect(isSameOwner(owner, { ...owner, registryGeneration: 1 })).toBe(false)
  })

  test('a reply with unknown fields and no declarations contributes nothing', () => {
    const reply = parseInitializeReply({ protocol: 'svc-plugin/2', name: 'Example', futureField: true })
    expect(reply).toMatchObject({ name: 'Example', tools: [], hooks: [], routes: [], messageParts: [], mcp: [] })
    expect(Object.values(reply.services)).toEqual(Array.from({ length: 7 }, () => []))
  })

  test('frames accept a null id and a null error, and refuse known fields of a wrong type', () => {
    expect(PluginFrame.safeParse({ id: null, method: 'event' }).success).toBe(true)
    expect(PluginFrame.safeParse({ id: 1, error: null }).success).toBe(true)
    for (const frame of [
      { id: '1' },
      { id: -1 },
      { id: 1.5 },
      { error: 1 },
      { method: 1 },
      { owner: {} },
      { stream: { kind: 'x' } },
      { requestId: 'a' },
    ])
      expect(PluginFrame.safeParse(frame).success).toBe(false)
  })
})

describe('the answer to initialize', () => {
  const reply = (rest: object) => parseInitializeReply({ protocol: 'svc-plugin/2', ...rest })
  const tool = { id: 'a', description: '', parameters: {} }

  test('takes empty tables and null for empty lists, and null for absent fields', () => {
    const parsed = reply({
      name: null,
      tools: {},
      hooks: null,
      eventNamespaces: {},
      messageParts: {},
      mcp: [{ id: 'm', authentication: {}, transport: null }],
      services: { agents: {}, prompts: null, providers: [{ descriptor: { id: 'p', models: {}, name: null }, priority: null }] },
      routes: null,
    })
    expect(parsed).toMatchObject({ tools: [], hooks: [], eventNamespaces: [], messageParts: [], mcp: [{ authentication: [] }], routes: [] })
    expect(parsed.services.providers).toMatchObject([{ descriptor: { id: 'p', models: [] }, priority: 0 }])
    expect(reply({ services: null, tools: [{ ...tool, permission: null, outputSchema: null }] }).tools).toHaveLength(1)
  })

  test.each<[object, string]>([
    [{ protocol: 'svc-plugin/1' }, 'protocol'],
    [{ tools: [tool, { id: 'b', parameters: {} }] }, 'tools[1].description'],
    [{ tools: [{ ...tool, id: '1a' }] }, 'tools[0].id'],
    [{ tools: [{ ...tool, parameters: 5 }] }, 'tools[0].parameters'],
    [{ services: { agents: [{ id: 'x', priority: 1.5 }] } }, 'services.agents[0].priority'],
    [{ routes: [{ descriptor: { id: 'r', method: 'HEAD', path: '/', scope: 'workspace' } }] }, 'routes[0].descriptor.method'],
    [{ tools: Array.from({ length: 513 }, (_, index) => ({ ...tool, id: `t${index}` })) }, 'tools: there are 513'],
    [{ hooks: Array.from({ length: 1025 }, () => 'x') }, 'declares 1025 things'],
  ])('is refused as a whole, with the place: %#', (rest, place) => {
    expect(() => reply(rest)).toThrow(place)
  })

  test('has to be an object', () => {
    expect(() => parseInitializeReply(null)).toThrow('the reply')
    expect(InitializeReply.safeParse([]).success).toBe(false)
  })
})
