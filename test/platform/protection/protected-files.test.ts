// Holds subsystems b.7.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { createProtectedFiles } from '../../../src/platform/protection/protected-files.js'
import { IN_HOME, IN_SYSTEM, IN_WORKSPACES } from '../../../src/platform/protection/protected-places.js'
import { temporary } from '../git/checkout.js'

const protectedFiles = createProtectedFiles({
  files: createNodeFiles(),
  configDirectory: '/home/u/.config/svc',
  stateDirectory: '/home/u/.local/state/svc',
  cacheDirectory: '/home/u/.cache/svc',
  home: '/home/u',
  env: { SVC_AGENT_CONFIG: '/srv/team.json', SVC_AGENT_CONFIG_DIR: '/srv/more/', SVC_AGENT_AUTH_PATH: 'relative' },
})

const reasonOf = async (path: string) => (await protectedFiles.reasons([path]))[0]

describe('protected files', () => {
  it.each([
    ['/home/u/.config/svc/svc.json', 'svc configuration'],
    ['/home/u/.config/svc', 'svc configuration'],
    ['/srv/team.json', 'svc configuration'],
    ['/srv/more/agent/x.md', 'svc configuration'],
    ['/home/u/.local/state/svc/agent.sqlite3', 'the state of svc'],
    ['/home/u/.cache/svc/compiled/v22/a', 'code that svc runs'],
    ['/home/u/.bashrc', 'a start-up or credential file'],
    ['/home/u/.config/fish/conf.d/x.fish', 'a start-up or credential file'],
    ['/home/u/.ssh/authorized_keys', 'a start-up or credential file'],
    ['/home/u/.gitconfig', 'a start-up or credential file'],
    ['/etc/profile.d/x.sh', 'a start-up or credential file'],
    ['/w/svc.json', 'svc configuration'],
    ['/w/sub/svc.jsonc', 'svc configuration'],
    ['/w/.svc/agent/x.md', 'svc configuration'],
    ['/w/.svc/workflows/x.md', 'svc configuration'],
    ['/w/plugin/svc-plugin.json', 'a plugin manifest'],
    ['/w/.git/hooks/pre-commit', 'version-control data'],
    ['/w/.git/config', 'version-control data'],
    ['/w/.git/modules/a/config', 'version-control data'],
    ['/w/.git', 'version-control data'],
    ['/w/.git/HEAD', 'version-control data'],
    ['/w/.git/objects/info/alternates', 'version-control data'],
    ['/w/.hg/hgrc', 'version-control data'],
    ['/w/evil/HEAD', 'a file that makes a directory a repository'],
    ['/w/evil/commondir', 'a file that makes a directory a repository'],
    ['/w/.husky/pre-commit', 'version-control hooks'],
    ['/w/sub/.envrc', 'a file that shells run by themselves'],
    ['/w/.vscode/tasks.json', 'a file that editors run by themselves'],
    ['/w/my.code-workspace', 'a file that editors run by themselves'],
    ['/w/.idea/runConfigurations/x.xml', 'a file that editors run by themselves'],
    ['/w/.claude/settings.json', 'a file that names programs for other agents'],
  ])('protects %s', async (path, reason) => {
    expect(await reasonOf(path)).toBe(reason)
  })

  it.each(['/w/.GIT/Hooks/pre-commit', '/w/SVC.JSON', '/home/u/.BashRC', '/Home/U/.config/SVC/svc.json'])(
    'protects %s, because case may not count',
    async (path) => {
      expect(await reasonOf(path)).toBeDefined()
    },
  )

  it.each(['/', '/home', '/home/u', '/home/u/.config', '/home/u/.local/state'])(
    'protects %s, because it holds protected files',
    async (path) => {
      expect(await reasonOf(path)).toMatch(/^a directory that holds /)
    },
  )

  it.each([
    '/w/src/index.ts',
    '/w/svc.json.md',
    '/w/my-svc.json',
    '/w/.gitignore',
    '/w/.gitmodules',
    '/w/package.json',
    '/w/AGENTS.md',
    '/w/.vscode/extensions.json',
    '/w/src/head',
    '/w/src/config',
    '/w/src/objects/a.ts',
    '/w/.github/workflows/ci.yml',
    '/home/u/project/readme.md',
    '/home/u/.bashrc-notes',
    '/w/.svc/plans/today.md',
    '/home/u/.local/state/svc/plans/today.md',
    '/home/u/.local/state/svc/tool-output/tool_1',
  ])('leaves %s alone', async (path) => {
    expect(await reasonOf(path)).toBeUndefined()
  })

  it('protects what is not a plan among the plans', async () => {
    expect(await reasonOf('/w/.svc/plans/svc.json')).toBe('svc configuration')
    expect(await reasonOf('/w/.svc/plans/deep/x.md')).toBe('svc configuration')
  })
})

describe('every spelling that some file system takes for the same', () => {
  it.each([
    '/w/.git./config',
    '/w/.git /config',
    '/w/GIT~1/config',
    '/w/.g\u200cit/config',
    '/w/.git::$INDEX_ALLOCATION/config',
    '/w/.\uff47it/config',
  ])('%s', async (path) => {
    expect(await reasonOf(path)).toBe('version-control data')
  })
})

describe('what is shaped like a repository', () => {
  const workspace = (...names: readonly string[]) => {
    const root = temporary()
    for (const name of names) {
      mkdirSync(join(root, name, '..'), { recursive: true })
      if (name.endsWith('/')) mkdirSync(join(root, name), { recursive: true })
      else writeFileSync(join(root, name), '')
    }
    return async (...paths: readonly string[]) => {
      const reasons = await protectedFiles.reasons(paths.map((path) => join(root, path)))
      return reasons.map((reason) => reason?.replace(root, '…'))
    }
  }
  const PART = 'part of …/bare, which git takes for a repository'

  it('is protected as a whole', async () => {
    const reasons = workspace('bare/HEAD', 'bare/objects/', 'bare/refs/')
    expect(await reasons('bare/config', 'bare/hooks/post-checkout', 'bare', 'other/config')).toEqual([PART, PART, PART, undefined])
  })

  it('also where only its settings are, and its HEAD lies elsewhere', async () => {
    expect(await workspace('bare/config', 'bare/objects/', 'bare/refs/')('bare/config')).toEqual([PART])
    expect(await workspace('bare/objects/', 'bare/refs/')('bare/config')).toEqual([PART])
  })

  it('is not made by what completes it, whatever comes last, nor by one call for all of it', async () => {
    expect(await workspace('bare/objects/', 'bare/HEAD')('bare/refs/heads/main')).toEqual([PART])
    expect(await workspace('bare/refs/', 'bare/HEAD')('bare/objects/x')).toEqual([PART])
    expect(await workspace()('bare/objects', 'bare/refs', 'bare/x')).toEqual([PART, PART, PART])
    expect(await workspace()('bare/Objects/a', 'bare/REFS/a')).toEqual([PART, PART])
  })

  it('is not a directory that has two such names and nothing else of a repository, nor a worktree below a bare repository', async () => {
    expect(await workspace('bare/objects/', 'bare/refs/')('bare/objects/a.ts', 'bare/readme')).toEqual([undefined, undefined])
    const reasons = workspace('bare/HEAD', 'bare/objects/', 'bare/refs/', 'bare/main/.git')
    expect(await reasons('bare/main/src/a.ts', 'bare/config')).toEqual([undefined, PART])
  })
})

it('the table of the documentation lists exactly these', () => {
  const document = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8')
  const [, section = ''] = document.split(/^## Protected files$/m)
  const listed = (where: string) =>
    [...section.matchAll(new RegExp(`^\\| ${where} \\| ([^|]*) \\|`, 'gm'))]
      .flatMap(([, files = '']) => [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file))
      .toSorted((a, b) => (a < b ? -1 : 1))
  expect(listed('any directory')).toEqual(IN_WORKSPACES.map(([pattern]) => pattern).toSorted())
  expect(listed('home')).toEqual(IN_HOME.toSorted())
  expect(listed('system')).toEqual(IN_SYSTEM.toSorted())
})

describe('what a protected name leads to as a link', () => {
  it('is protected as the name is: over further links, and where it is not there yet', async () => {
    const root = temporary()
    const home = join(root, 'home')
    const work = join(root, 'work')
    for (const path of ['home/dots', 'work/env', 'work/way', 'work/ends', 'work/own/.vscode'])
      mkdirSync(join(root, path), { recursive: true })
    symlinkSync('dots/bashrc', join(home, '.bashrc'))
    symlinkSync('env/dev.env', join(work, '.envrc'))
    symlinkSync('../../way/link', join(work, 'own/.vscode/tasks.json'))
    symlinkSync('../ends/tasks.json', join(work, 'way/link'))
    symlinkSync('ends', join(work, '.svc'))
    symlinkSync('.hg', join(work, '.hg'))
    const linked = createProtectedFiles({
      files: createNodeFiles(),
      configDirectory: join(root, 'config'),
      stateDirectory: join(root, 'state'),
      cacheDirectory: join(root, 'cache'),
      home,
      env: {},
    })
    const [tasks, way] = ['work/own/.vscode/tasks.json', 'work/way/link'].map((path) => join(root, path))
    const asked = ['home/dots/bashrc', 'work/env/dev.env', 'work/ends/agent/x.md', 'work/own/x', 'work/env/other', 'home/dots/x']
    expect(await linked.reasons(asked.map((path) => join(root, path)))).toEqual([
      `a start-up or credential file: ${join(home, '.bashrc')} leads to it`,
      `a file that shells run by themselves: ${join(work, '.envrc')} leads to it`,
      `svc configuration: ${join(work, '.svc')} leads to it`,
      undefined,
      undefined,
      undefined,
    ])
    // Only names above a path are looked for: those beside it may be anywhere.
    expect(await linked.reasons([way ?? '', join(work, 'own/.vscode/other.json')])).toEqual([undefined, undefined])
    symlinkSync('way/link', join(work, '.mcp.json'))
    expect(await linked.reasons([way ?? '', tasks ?? ''])).toEqual([
      `a file that names programs for other agents: ${join(work, '.mcp.json')} leads to it`,
      'a file that editors run by themselves',
    ])
  })
})
