import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentsPlugin } from '../../../src/plugins/documents/documents.plugin.js'
import { toolsOf } from '../web/fixture.js'

function scene() {
  return toolsOf(({ root }) => {
    const directory = join(root, 'docs')
    mkdirSync(directory)
    writeFileSync(
      join(directory, 'operations.md'),
      '# Operations\n\nHow it runs.\n\n## The way out\n\nProxies: `HTTPS_PROXY`.\n\n```sh\n# not a heading\n```\n',
    )
    writeFileSync(join(directory, 'mcp.md'), '# MCP servers\n\nServers behind a proxy are asked through it.\n')
    writeFileSync(join(directory, 'secret.txt'), 'no document')
    return documentsPlugin({ directory })
  })
}

describe('docs', () => {
  it('lists, searches and reads', async () => {
    const { run } = scene()
    expect((await run('docs', { operation: 'list' })).output).toBe('mcp.md: MCP servers\noperations.md: Operations')
    const found = await run('docs', { operation: 'search', query: 'https_proxy' })
    expect(found.metadata).toEqual({ results: ['operations.md#the-way-out'] })
    expect(found.output).toContain('Proxies: `HTTPS_PROXY`.')
    expect((await run('docs', { operation: 'search', query: 'HTTPS_PROXY proxies', limit: 1 })).metadata).toEqual({
      results: ['operations.md#the-way-out'],
    })
    expect((await run('docs', { operation: 'read', path: 'operations.md#the-way-out' })).output).toContain('# not a heading')
    expect((await run('docs', { operation: 'read', path: 'operations.md' })).output).toMatch(/^# Operations[^]*## The way out/)
    expect((await run('docs', { operation: 'search', query: 'zzz' })).output).toBe('No section has these words.')
  })

  it.each(['secret.txt', '../docs/operations.md', '/etc/passwd', '', 'operations.md#none'])('reads no "%s"', async (path) => {
    await expect(scene().run('docs', { operation: 'read', path })).rejects.toThrow('There is no')
  })

  it('has a closed schema, and is judged', async () => {
    const { schema, needs, run } = scene()
    expect(schema('docs')).toMatchObject({ additionalProperties: false, required: ['operation'] })
    expect(await needs('docs', { operation: 'list' })).toMatchObject([{ permission: 'docs', patterns: ['*'] }])
    await expect(run('docs', { operation: 'search' })).rejects.toThrow('needs a "query"')
  })
})
