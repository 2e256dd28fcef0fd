import { expect, it } from 'vitest'
import { offeredTools } from '../../../src/actors/session/run/offered-tools.js'
import type { RunScope } from '../../../src/actors/session/run/run-scope.js'
import type { RegistryView } from '../../../src/ports/view.js'

function offered(model: string, tools: readonly string[]): string[] {
  const run = {
    session: {},
    permission: [],
    ceilings: [],
    prompt: {},
    target: { model: { model: { id: model, capabilities: {} } }, agent: { record: {}, rules: [], narrowing: [] } },
  } as unknown as RunScope
  const view = { tools: tools.map((id) => ({ contribution: { id, permission: id === 'read' ? id : 'edit' } })) } as unknown as RegistryView
  return [...offeredTools(run, view).keys()]
}

it.each([
  ['gpt-5', ['read', 'edit', 'apply_patch']],
  ['openai/gpt-5.2-mini', ['read', 'edit', 'apply_patch']],
  ['gpt-5-codex', ['read', 'edit', 'apply_patch']],
  ['codex-mini-latest', ['read', 'edit', 'apply_patch']],
  ['gpt-4.1', ['read', 'edit', 'write']],
  ['gpt-oss-120b', ['read', 'edit', 'write']],
  ['claude-sonnet-4-5', ['read', 'edit', 'write']],
])('%s changes files in the way of its family', (model, tools) => {
  expect(offered(model, ['read', 'edit', 'write', 'apply_patch'])).toEqual(tools)
  expect(offered(model, ['read', 'edit', 'write'])).toEqual(['read', 'edit', 'write'])
})
