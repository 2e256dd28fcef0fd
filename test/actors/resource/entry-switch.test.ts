/** Entries are switched in the file that defines them last, and a change that is refused leaves nothing behind (subsystems f.4). */
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from './workspace.js'

const SERVER = { type: 'local', command: ['server'] }
type Place = ReturnType<typeof createWorkspace>

const servers = async (place: Place) =>
  ((await place.load()).mcp ?? {}) as Record<string, { enabled?: boolean; disabled?: boolean; command?: unknown }>
const isOn = async (place: Place, name = 'it') => {
  const entry = (await servers(place))[name]
  return entry !== undefined && entry.enabled !== false && entry.disabled !== true
}
const switchIt = async ({ configs, work }: Place, enabled: boolean, name = 'it') => configs.switchEntry(work, 'mcp', name, enabled)
const definer = async ({ configs, work, at }: Place, name = 'it') => {
  const found = await configs.definer(work, 'mcp', name)
  return found && [found.scope, found.file?.slice(at('').length).replace(/^\//, '')]
}

/** Every file below a directory, with its content. */
function contents(root: string, below = ''): readonly (readonly [string, string])[] {
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name)
    return entry.isDirectory() ? contents(root, path) : [[path, readFileSync(join(root, path), 'utf8')] as const]
  })
}

describe('an entry that is switched', () => {
  it.each([
    ['config/config.json', ['config/config.json']],
    ['config/svc.json', ['config/svc.json']],
    ['config/svc.json', ['config/config.json', 'config/svc.json']],
    ['config/mcp.json', ['config/mcp.json']],
    ['home/.svc/svc.jsonc', ['config/config.json', 'home/.svc/svc.jsonc']],
  ])('is written in %s, where it is defined last', async (last, files) => {
    const place = createWorkspace()
    for (const file of files) place.write(file, { mcp: { it: SERVER, other: SERVER } })
    const before = contents(place.root).filter(([path]) => path !== last)
    expect(await definer(place)).toEqual(['global', last])
    for (const enabled of [false, true]) {
      await switchIt(place, enabled)
      expect([await isOn(place), await isOn(place, 'other')]).toEqual([enabled, true])
      expect(JSON.parse(readFileSync(place.at(last), 'utf8'))).toEqual({ mcp: { it: { ...SERVER, enabled }, other: SERVER } })
    }
    expect(contents(place.root).filter(([path]) => path !== last)).toEqual(before)
    expect((await place.messages()).filter((message) => message.includes('mcp.it'))).toEqual([])
  })

  it('is written in a map of servers without a name of its own, comments and all', async () => {
    const place = createWorkspace()
    place.write('config/mcp.jsonc', '{\n  // mine\n  "it": { "type": "local", "command": ["server"] }\n}\n')
    await switchIt(place, false)
    expect(readFileSync(place.at('config/mcp.jsonc'), 'utf8')).toMatch(
      /\/\/ mine\n {2}"it": \{ "type": "local", "command": \["server"\], ?\n? *"enabled": false/,
    )
    expect(await isOn(place)).toBe(false)
  })

  it('says so in another word, too', async () => {
    const place = createWorkspace()
    place.write('config/config.json', { mcp: { it: { ...SERVER, disabled: true } } })
    await switchIt(place, true)
    expect(await isOn(place)).toBe(true)
  })

  it('of the workspace is written there, and shown to be its own', async () => {
    const place = createWorkspace()
    place.write('work/.svc/mcp.json', { theirs: SERVER })
    expect([await definer(place, 'theirs'), await place.configs.brought(place.work, 'mcp')]).toEqual([
      ['workspace', 'work/.svc/mcp.json'],
      { theirs: SERVER },
    ])
    await switchIt(place, false, 'theirs')
    expect(JSON.parse(readFileSync(place.at('work/.svc/mcp.json'), 'utf8'))).toEqual({ theirs: { ...SERVER, enabled: false } })
    expect(existsSync(place.at('config/config.json'))).toBe(false)
    expect((await servers(place))['theirs']?.command).toBe(undefined)
  })

  it('of the installation that a workspace has switched off is taken out there', async () => {
    const place = createWorkspace()
    place.write('config/config.json', { mcp: { it: SERVER } })
    place.write('work/svc.json', { model: 'a/b', mcp: { it: { enabled: false } } })
    expect([await definer(place), await isOn(place)]).toEqual([['workspace', 'work/svc.json'], false])
    await switchIt(place, true)
    expect([await isOn(place), JSON.parse(readFileSync(place.at('work/svc.json'), 'utf8'))]).toEqual([true, { model: 'a/b', mcp: {} }])
  })
})

describe('a switch that is refused leaves every file as it was', () => {
  it.each([
    [
      'another file of the workspace has switched it off',
      {
        'config/config.json': { mcp: { it: SERVER } },
        'work/svc.json': { mcp: { it: { enabled: false } } },
        'work/.svc/config.json': { mcp: { it: { enabled: false } } },
      },
      'resource.conflict',
    ],
    [
      'the installation has switched it off, and a workspace as well',
      { 'config/config.json': { mcp: { it: { ...SERVER, enabled: false } } }, 'work/svc.json': { mcp: { it: { enabled: false } } } },
      'resource.conflict',
    ],
    ['no file defines it', {}, 'request.invalid'],
  ])('%s', async (_why, files, code) => {
    const place = createWorkspace()
    for (const [path, content] of Object.entries(files)) place.write(path, content)
    const before = contents(place.root)
    await expect(switchIt(place, true)).rejects.toMatchObject({ code })
    expect([contents(place.root), await isOn(place)]).toEqual([before, false])
  })

  it('the environment defines it', async () => {
    const place = createWorkspace({ env: { SVC_AGENT_CONFIG_CONTENT: JSON.stringify({ mcp: { it: SERVER } }) } })
    expect(await definer(place)).toEqual(['global', undefined])
    await expect(switchIt(place, false)).rejects.toMatchObject({ code: 'request.invalid' })
    expect([await isOn(place), contents(place.root)]).toEqual([true, []])
  })

  it('the file is read-only', async () => {
    const place = createWorkspace()
    place.write('config/config.json', { mcp: { it: SERVER } })
    chmodSync(place.at('config/config.json'), 0o444)
    await expect(switchIt(place, false)).rejects.toMatchObject({ code: 'config.invalid' })
    expect(await isOn(place)).toBe(true)
  })
})

it('a server of the workspace is diagnosed with what it waits for', async () => {
  const place = createWorkspace()
  place.write('work/svc.json', { mcp: { theirs: SERVER } })
  expect(await place.messages()).toEqual([expect.stringContaining('it waits for "svc mcp accept theirs"')])
})
