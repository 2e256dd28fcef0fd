// Holds sessions-events §8.9, §10.2.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from './fixture.js'

describe('what a file tool must be allowed to do', () => {
  it.each([
    ['read', { filePath: 'src/a.ts' }, 'read', 'Read src/a.ts'],
    ['write', { filePath: 'src/a.ts', content: '' }, 'edit', 'Write src/a.ts'],
    ['edit', { filePath: 'src/a.ts', oldString: 'a', newString: 'b' }, 'edit', 'Edit src/a.ts'],
    ['grep', { pattern: 'x', path: 'src/a.ts' }, 'grep', 'Search src/a.ts'],
    ['glob', { pattern: 'x', path: 'src/a.ts' }, 'glob', 'List src/a.ts'],
  ])('%s asks for its group on the path within the session directory', async (id, input, permission, title) => {
    const workspace = createWorkspace()
    const path = workspace.put('src/a.ts', '')
    const needs = await workspace.tool(id).needs(input)
    expect(needs.filter((need) => need.permission === permission)).toEqual([
      { permission, patterns: ['src/a.ts'], title, metadata: { path } },
    ])
    expect(needs.filter((need) => need.permission !== permission).map((need) => need.permission)).toEqual(
      id === 'grep' || id === 'edit' ? ['read'] : [],
    )
  })

  it('the session directory itself is called "."', async () => {
    const workspace = createWorkspace()
    expect(await workspace.tool('grep').needs({ pattern: 'x' })).toMatchObject([{ permission: 'grep', patterns: ['.'] }])
    expect(await workspace.tool('read').needs({ filePath: workspace.directory })).toMatchObject([{ permission: 'read', patterns: ['.'] }])
  })

  it('outside the session directory it needs external_directory on the directory too', async () => {
    const workspace = createWorkspace()
    const file = workspace.put(`${workspace.effects.root}/other/a.txt`, '')
    const other = `${workspace.effects.root}/other`
    expect(await workspace.tool('read').needs({ filePath: '../other/a.txt' })).toMatchObject([
      { permission: 'external_directory', patterns: [`${other}/*`] },
      { permission: 'read', patterns: [file] },
    ])
    expect(await workspace.tool('read').needs({ filePath: other })).toMatchObject([{ patterns: [`${other}/*`] }, { patterns: [other] }])
    expect(await workspace.tool('glob').needs({ pattern: '*', path: other })).toMatchObject([
      { patterns: [`${other}/*`] },
      { patterns: [other] },
    ])
    expect(await workspace.tool('write').needs({ filePath: `${other}/new/b.txt`, content: '' })).toMatchObject([
      { permission: 'external_directory', patterns: [`${other}/new/*`] },
      { permission: 'edit', patterns: [`${other}/new/b.txt`] },
    ])
  })

  it('a sibling whose name begins like the session directory is outside', async () => {
    const workspace = createWorkspace()
    workspace.put(`${workspace.directory}-other/a`, '')
    expect(await workspace.tool('read').needs({ filePath: `${workspace.directory}-other/a` })).toHaveLength(2)
  })

  it('a link out of the session directory is judged by where it leads', async () => {
    const workspace = createWorkspace()
    const secret = workspace.put(`${workspace.effects.root}/other/secret`, 'x')
    symlinkSync(`${workspace.effects.root}/other`, workspace.path('inner'))
    expect(await workspace.tool('read').needs({ filePath: 'inner/secret' })).toMatchObject([
      { permission: 'external_directory', patterns: [`${workspace.effects.root}/other/*`] },
      { permission: 'read', patterns: [secret, 'inner/secret'] },
    ])
    expect(await workspace.tool('write').needs({ filePath: 'inner/deep/new.txt', content: '' })).toMatchObject([
      { permission: 'external_directory', patterns: [`${workspace.effects.root}/other/deep/*`] },
      { permission: 'edit' },
    ])
  })

  it('a link inside the session directory is judged by both its names', async () => {
    const workspace = createWorkspace()
    workspace.put('.env', 'KEY=1')
    symlinkSync(workspace.path('.env'), workspace.path('harmless.txt'))
    expect(await workspace.tool('read').needs({ filePath: 'harmless.txt' })).toMatchObject([
      { permission: 'read', patterns: ['.env', 'harmless.txt'] },
    ])
  })

  it('a protected file needs an explicit answer to be changed, under every spelling, and none to be read', async () => {
    const reasons = async (paths: readonly string[]) =>
      paths.map((path) => (path.endsWith('/.git/config') ? 'version control configuration' : undefined))
    const workspace = createWorkspace({ host: { protectedFiles: { reasons } } })
    workspace.put('.git/config', '')
    symlinkSync(workspace.path('.git'), workspace.path('g'))
    const explicit = { permission: 'edit', explicit: 'version control configuration' }
    expect(await workspace.tool('write').needs({ filePath: 'x/../.git/config', content: '' })).toMatchObject([explicit])
    expect(await workspace.tool('edit').needs({ filePath: 'g/config', oldString: 'a', newString: 'b' })).toMatchObject([
      explicit,
      { permission: 'read' },
    ])
    expect((await workspace.tool('read').needs({ filePath: '.git/config' }))[0]?.explicit).toBeUndefined()
    expect((await workspace.tool('write').needs({ filePath: 'a.txt', content: '' }))[0]?.explicit).toBeUndefined()
  })

  it('a protected file that is a link is known by its own place, too', async () => {
    const reasons = async (paths: readonly string[]) => paths.map((path) => (path.endsWith('/.envrc') ? 'run by shells' : undefined))
    const workspace = createWorkspace({ host: { protectedFiles: { reasons } } })
    workspace.put('env/dev', '')
    symlinkSync(workspace.path('env/dev'), workspace.path('.envrc'))
    symlinkSync(workspace.path('env'), workspace.path('e'))
    const needs = async (filePath: string) => (await workspace.tool('write').needs({ filePath, content: '' }))[0]?.explicit
    expect([await needs('.envrc'), await needs('e/../.envrc'), await needs('env/dev'), await needs('e/dev')]).toEqual([
      'run by shells',
      'run by shells',
      undefined,
      undefined,
    ])
  })

  it('links in a circle and NUL characters are refused', async () => {
    const workspace = createWorkspace()
    symlinkSync(workspace.path('b'), workspace.path('a'))
    symlinkSync(workspace.path('a'), workspace.path('b'))
    await expect(workspace.tool('read').needs({ filePath: 'a' })).rejects.toThrow('its links lead in a circle')
    await expect(workspace.tool('read').needs({ filePath: 'a\0b' })).rejects.toThrow('NUL')
  })
})

describe('what is opened is what was judged', () => {
  it('a link that is swapped between the answer and the call is refused', async () => {
    const workspace = createWorkspace()
    workspace.put('safe/a.txt', 'safe')
    workspace.put(`${workspace.effects.root}/other/a.txt`, 'secret')
    symlinkSync(workspace.path('safe'), workspace.path('link'))
    for (const [id, input] of [
      ['read', { filePath: 'link/a.txt' }],
      ['write', { filePath: 'link/a.txt', content: 'changed' }],
      ['edit', { filePath: 'link/a.txt', oldString: 'secret', newString: 'changed' }],
      ['grep', { pattern: 'secret', path: 'link' }],
      ['glob', { pattern: '*', path: 'link' }],
    ] as const) {
      const callId = `call_${id}`
      await workspace.tool(id).needs(input, { callId })
      rmSync(workspace.path('link'))
      symlinkSync(`${workspace.effects.root}/other`, workspace.path('link'))
      await expect(workspace.tool(id).invoke(input, { callId })).rejects.toThrow('now leads to')
      rmSync(workspace.path('link'))
      symlinkSync(workspace.path('safe'), workspace.path('link'))
    }
    expect(readFileSync(`${workspace.effects.root}/other/a.txt`, 'utf8')).toBe('secret')
  })

  it('a directory that becomes a link before a new file is written is refused', async () => {
    const workspace = createWorkspace()
    mkdirSync(`${workspace.effects.root}/other`)
    const input = { filePath: 'new/a.txt', content: 'x' }
    await workspace.tool('write').needs(input, { callId: 'c' })
    symlinkSync(`${workspace.effects.root}/other`, workspace.path('new'))
    await expect(workspace.tool('write').invoke(input, { callId: 'c' })).rejects.toThrow('now leads to')
  })

  it('a call that nobody judged is refused, and a judgement serves one call', async () => {
    const workspace = createWorkspace()
    writeFileSync(workspace.path('a.txt'), 'x')
    const read = workspace.tool('read')
    await expect(read.invoke({ filePath: 'a.txt' })).rejects.toThrow('was not checked')
    await read.run({ filePath: 'a.txt' }, { callId: 'c' })
    await expect(read.invoke({ filePath: 'a.txt' }, { callId: 'c' })).rejects.toThrow('was not checked')
    await read.needs({ filePath: 'a.txt' }, { callId: 'd', sessionId: 'ses_other' })
    await expect(read.invoke({ filePath: 'a.txt' }, { callId: 'd' })).rejects.toThrow('was not checked')
  })
})
