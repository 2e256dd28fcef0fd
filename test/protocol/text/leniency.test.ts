import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { parseManifest } from '../../../src/actors/plugin/package/package-manifest.js'
import { asDeclared } from '../../../src/protocol/text/leniency.js'
import { ModelRef, PromptRequest } from '../../../src/protocol/message/message.js'
import { parseRequest } from '../../../src/protocol/text/parse.js'
import { CreateSessionRequest } from '../../../src/protocol/session/session.js'
import { WorkflowDefinition } from '../../../src/protocol/workflow/workflow.js'

describe('a model', () => {
  it.each([
    { providerID: 'p', modelID: 'm' },
    { providerId: 'p', modelId: 'm' },
    { providerID: 'p', providerId: null, modelID: 'm', modelId: 'm', variant: null },
  ])('of a prompt may be spelled %j', (model) => {
    const body = { prompt: 'x', model, parts: [{ type: 'subtask', prompt: '', description: '', agent: 'a', model, command: null }] }
    const meant = { providerId: 'p', modelId: 'm' }
    expect(parseRequest(PromptRequest, 'body', body)).toEqual({
      prompt: 'x',
      model: meant,
      parts: [{ type: 'subtask', prompt: '', description: '', agent: 'a', model: meant }],
    })
  })

  it.each([
    { providerID: 'p', modelID: 'm' },
    { providerId: 'p', modelId: 'm' },
    { providerId: 'p', id: 'm', modelId: null, modelID: 'm' },
  ])('of a session or a workflow may be spelled %j', (model) => {
    const meant = { providerId: 'p', id: 'm' }
    expect(parseRequest(CreateSessionRequest, 'body', { model })).toEqual({ model: meant })
    const workflow = { id: 'w', name: 'W', schedule: {}, prompt: 'x', model }
    expect(parseRequest(WorkflowDefinition, 'body', workflow).model).toEqual(meant)
  })

  it('of a request may be named as in the configuration, with slashes in its own name', () => {
    const model = 'openrouter/openai/gpt'
    expect(parseRequest(PromptRequest, 'body', { prompt: 'x', model }).model).toEqual({ providerId: 'openrouter', modelId: 'openai/gpt' })
    expect(parseRequest(CreateSessionRequest, 'body', { model }).model).toEqual({ providerId: 'openrouter', id: 'openai/gpt' })
    const part = { type: 'subtask', prompt: '', description: '', agent: 'a', model }
    const { parts } = parseRequest(PromptRequest, 'body', { parts: [part] })
    expect(parts).toEqual([{ ...part, model: { providerId: 'openrouter', modelId: 'openai/gpt' } }])
  })

  it.each([
    ['gpt', 'body.model: must be "provider/model", or a record of both'],
    ['gpt/', 'body.model: must be "provider/model", or a record of both'],
    [{ providerId: 'p' }, 'body.model: modelId: must be string, received undefined'],
    [{ providerId: 'p', modelId: 'm', colour: 'red' }, 'body.model: Unrecognized key: "colour"'],
  ])('of a request that cannot be meant is refused with what is wanted: %j', (model, message) => {
    expect(() => parseRequest(PromptRequest, 'body', { prompt: 'x', model })).toThrow(message)
  })

  it('whose spellings say different things is refused, and so is one without a name', () => {
    const refusal = (value: unknown) => () => parseRequest(ModelRef, 'body', value)
    expect(refusal({ providerId: 'p', id: 'm', modelId: 'other' })).toThrow('modelId')
    expect(refusal({ providerId: 'p', id: null })).toThrow('body.id')
  })
})

it('null is kept where it has a meaning, in lists and maps, and in fields nobody declared', () => {
  const schema = z.looseObject({
    cleared: z.string().nullish(),
    either: z.union([z.string(), z.null()]).optional(),
    list: z.array(z.looseObject({ gone: z.string().optional() }).nullable()).optional(),
    map: z.record(z.string(), z.unknown()).optional(),
    needed: z.string(),
    anything: z.unknown().optional(),
    given: z.string().default('x'),
  })
  const value = {
    cleared: null,
    either: null,
    list: [null, { gone: null }],
    map: { a: null },
    needed: null,
    anything: null,
    given: null,
    other: null,
  }
  expect(asDeclared(schema, value)).toEqual({
    cleared: null,
    either: null,
    list: [null, {}],
    map: { a: null },
    needed: null,
    other: null,
  })
})

it('a manifest may say null for whatever it leaves out', () => {
  const manifest = {
    id: 'dev.example.a',
    name: null,
    version: null,
    api_version: 2,
    agent: { runtime: 'process', command: ['x'], capabilities: null, scope: null, entrypoint: null },
    editor: null,
    platforms: null,
    metadata: null,
  }
  expect(parseManifest(new TextEncoder().encode(JSON.stringify(manifest)))).toMatchObject({
    name: '',
    platforms: [],
    editor: null,
    agent: { capabilities: [], scope: 'workspace', entrypoint: '' },
  })
})
