// Holds sessions-events §8.3.
import { describe, expect, it } from 'vitest'
import type { ProviderContribution } from '../../../src/ports/plugin.js'
import { validateSnapshot } from '../../../src/actors/resource/facade/config-validate.js'
import { createWorkspace } from './workspace.js'

async function diagnose(text: string, path = 'config/config.jsonc') {
  const workspace = createWorkspace()
  workspace.write(path, text)
  return { workspace, file: workspace.at(path), ...(await workspace.configs.validate(workspace.work)) }
}

describe('a key that nothing is done with', () => {
  it('is told with file, line and column, whatever spelling or group it is written in', async () => {
    const text = `{
  // grouped, because of an editor group
  "editor": {},
  "agent": { "autoshare": true,
    "autoupdate": true }
}`
    const { ok, diagnostics, file } = await diagnose(text)
    expect({ ok, diagnostics }).toEqual({
      ok: true,
      diagnostics: [
        {
          level: 'warning',
          code: 'unsupported',
          path: 'autoshare',
          message: `${file}:4:14: "autoshare" has no effect: this server does not share sessions`,
          file,
          line: 4,
          column: 14,
        },
        {
          level: 'warning',
          code: 'unsupported',
          path: 'autoupdate',
          message: `${file}:5:5: "autoupdate" has no effect: this server does not update itself`,
          file,
          line: 5,
          column: 5,
        },
      ],
    })
  })

  it.each([
    ['formatter.x', { formatter: { x: { command: 'x $FILE' } } }],
    ['formatter.x', { formatter: { x: { command: 'x', extensions: ['x'] } } }],
    ['formatter.prettier.comand', { formatter: { prettier: { comand: 'x $FILE' } } }],
    ['mcp.files', { mcp: { files: { command: ['x'] } } }],
    ['lsp.rust.marker', { lsp: { rust: { command: ['ra'], marker: ['x'] } } }],
    ['command.x.agnt', { command: { x: { template: 'x', agnt: 'y' } } }],
    ['skills.path', { skills: { path: ['x'] } }],
    ['compaction.keep.token', { compaction: { keep: { token: 1 } } }],
    ['agent.a.compaction.treshold', { agent: { a: { compaction: { treshold: 1 } } } }],
    ['watcher', { watcher: { ignore: ['x'] } }],
    ['share', { share: 'auto' }],
    ['autoshare', { autoshare: true }],
    ['autoupdate', { autoupdate: 'notify' }],
    ['experimental', { experimental: { batchTool: true } }],
    ['skills.urls', { skills: { urls: ['https://x.test'] } }],
    ['instructions.0', { instructions: ['https://x.test/a.md'] }],
    ['agent.x.colour', { agent: { x: { colour: 'red' } } }],
    ['provider.p.whitelist', { provider: { p: { whitelist: [] } } }],
    ['provider.p.options.timeout', { provider: { p: { options: { timeout: 1 } } } }],
    ['provider.p.compatibility.tools', { provider: { p: { compatibility: { tools: true } } } }],
  ])('%s', async (path, document) => {
    const { diagnostics } = await diagnose(JSON.stringify(document))
    expect(diagnostics.map((each) => [each.code, each.path, each.line])).toEqual([['unsupported', path, 1]])
  })

  it('is no complaint where it asks for what happens anyway', async () => {
    const document = {
      lsp: false,
      formatter: false,
      mcp: { files: { enabled: false } },
      compaction: { auto: false },
      share: 'disabled',
      autoshare: false,
      autoupdate: false,
      experimental: { batchTool: false, primaryTools: [] },
    }
    expect((await diagnose(JSON.stringify(document))).diagnostics).toEqual([])
  })

  it('is told of an mcp.json, of a project, and once in the log for as long as the file is the same', async () => {
    const { workspace, diagnostics, file } = await diagnose('{"files": {"command": ["x"]}}', 'config/mcp.json')
    expect(diagnostics).toMatchObject([{ code: 'unsupported', path: 'mcp.files', file, line: 1 }])
    workspace.write('work/svc.json', '{"watcher": {"ignore": ["x"]}}')
    const logged = () => workspace.effects.logs.filter(({ fields }) => String(fields?.['problem']).includes('has no effect'))
    await workspace.load()
    await workspace.load()
    expect(logged()).toHaveLength(2)
    workspace.write('work/svc.json', '{ "watcher": {"ignore": ["x"]}}')
    await workspace.load()
    expect(logged()).toHaveLength(3)
  })
})

describe('a provider without its adapter', () => {
  it('is told with the adapters there are, and where it is named', async () => {
    const workspace = createWorkspace()
    workspace.write(
      'config/config.json',
      '{"provider": {"p": {\n "npm": "@x/none"}, "q": {"npm": "@x/there"}, "off": {"npm": "@x/none"}}, "disabledProviders": ["off"]}',
    )
    const contribution: ProviderContribution = {
      npm: ['@x/there', '@x/also'],
      create() {
        throw new Error('nothing generates here')
      },
    }
    const file = workspace.at('config/config.json')
    expect(
      validateSnapshot(await workspace.configs.snapshots.inspect(workspace.work), {
        surroundings: { contributions: [contribution], offered: new Map(), tools: [], plugins: [] },
      }).diagnostics,
    ).toEqual([
      {
        level: 'warning',
        code: 'unsupported',
        path: 'provider.p.npm',
        message: `${file}:2:2: Provider "p" needs the adapter "@x/none", which this server does not have. It has @x/also, @x/there.`,
        file,
        line: 2,
        column: 2,
      },
    ])
  })
})
