// Holds plugin-protocol §13-9.
/** What a workspace that switches a plugin of the installation off no longer sees of it, and what it cannot be rid of (threat-model W3). */
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/actors/plugin/registry/registry.js'
import type { Publication } from '../../../src/actors/plugin/registry/publication.js'

const everywhere = { type: 'everywhere' } as const

function publication(pluginId: string, more: Partial<Publication> = {}): Publication {
  return {
    pluginId,
    generation: 1,
    reach: everywhere,
    door: { open: true, use: (work: () => Promise<unknown>) => work() } as Publication['door'],
    contributions: { hooks: { 'tool.before': async () => ({}) }, sessionContext: () => 'context' },
    onHook: () => undefined,
    ...more,
  } as Publication
}

function seenIn(directory: string, published: Publication, isHidden: (id: string) => boolean) {
  const registry = createRegistry()
  registry.publish(published)
  registry.hide('/narrow', isHidden)
  const view = registry.view(directory)
  return { hooks: view.hooks('tool.before').length, context: view.sessionContext.length }
}

describe('a plugin that a workspace has switched off', () => {
  it.each([everywhere, { type: 'workspace', directory: '/narrow' }] as const)(
    'keeps its hooks where it is of the installation, wherever it runs: they may refuse what the workspace wants: %j',
    (reach) => {
      expect(seenIn('/narrow', publication('dev.example.guard', { reach }), () => true)).toEqual({ hooks: 1, context: 0 })
    },
  )

  it('is as it was for others, and there where it is not switched off', () => {
    expect(seenIn('/other', publication('dev.example.guard'), () => true)).toEqual({ hooks: 1, context: 1 })
    expect(seenIn('/narrow', publication('dev.example.guard'), () => false)).toEqual({ hooks: 1, context: 1 })
  })

  it('goes as a whole where it is built in, or of the workspace itself', () => {
    expect(seenIn('/narrow', publication('dev.svc.lsp', { internal: true }), () => true)).toEqual({ hooks: 0, context: 0 })
    const own = publication('dev.example.own', { reach: { type: 'workspace', directory: '/narrow' }, isOfWorkspace: true })
    expect(seenIn('/narrow', own, () => true)).toEqual({ hooks: 0, context: 0 })
  })
})
