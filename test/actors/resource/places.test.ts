import { expect, test } from 'vitest'
import { createWorkspace } from './workspace.js'

/** Path, file below the root, line and column of everything that is found. */
async function found(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
  const workspace = createWorkspace({ env })
  for (const [path, text] of Object.entries(files)) workspace.write(path, text)
  const { diagnostics } = await workspace.configs.validate(workspace.work)
  return diagnostics.map(({ path, file, line, column }) => [path, file?.replace(`${workspace.root}/`, ''), line, column])
}

test('what a workspace may not set is told where it stands, in the file that says it', async () => {
  const files = {
    'config/config.json': '{ "agent": { "build": { "options": { "store": false } } } }',
    'work/svc.json': '{\n  "shell": "x",\n  "agent": { "build": {\n    "options": { "store": true } } } }',
    'work/.svc/config.json': '{ "mcp": {\n "x": { "type": "local", "command": ["x"] } } }',
  }
  expect(await found(files)).toEqual([
    ['shell', 'work/svc.json', 2, 3],
    ['agent.build.options.store', 'work/svc.json', 4, 18],
    ['mcp.x', 'work/.svc/config.json', 2, 2],
  ])
})

test('what two files say is told in the one that counts; a group and other spellings are found', async () => {
  const files = {
    'config/config.json': '{ "default-agent": "a" }',
    'work/svc.json': '{ "editor": {},\n  "agent": { "default-agent": "b" } }',
  }
  expect(await found(files)).toEqual([['defaultAgent', 'work/svc.json', 2, 14]])
})

test('front matter, a bare map of servers, and text of the environment have places', async () => {
  const files = {
    'work/.svc/agents/a.md': '---\ndescription: A\nsteps: 0\n---\nA',
    'work/.svc/agents/b.md': '---\ndescription: A\nmode: [\n---\nB',
    'work/.svc/mcp.json': '{\n  "x": { "type": "local", "command": ["x"] } }',
  }
  expect(await found(files, { SVC_AGENT_CONFIG_CONTENT: '{\n"colour": 1 }' })).toEqual([
    ['agent.b', 'work/.svc/agents/b.md', 3, 1],
    ['mcp.x', 'work/.svc/mcp.json', 2, 3],
    ['agent.a.steps', 'work/.svc/agents/a.md', 3, 1],
    ['colour', 'SVC_AGENT_CONFIG_CONTENT', 2, 1],
  ])
})

test('a broken file is told where it is broken', async () => {
  expect(await found({ 'work/svc.json': '{\n "model": }' })).toEqual([['config', 'work/svc.json', 2, 11]])
})
