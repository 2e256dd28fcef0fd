// `@file#` offers what the file defines, as a real language server tells it: the built program at a pseudo-terminal.
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CTRL, leave, openConversation } from './conversation.js'
import { type Home, makeHome } from './program.js'

const TSC = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace('package.json', 'bin/tsc')

let home: Home
beforeAll(() => {
  home = makeHome()
  mkdirSync(join(home.path, '.config/svc'), { recursive: true })
  const lsp = { typescript: { command: [process.execPath, TSC, '--lsp', '--stdio'] } }
  writeFileSync(
    join(home.path, '.config/svc/config.json'),
    JSON.stringify({ model: 'svc/offline', agent: { title: { disable: true } }, lsp }),
  )
  writeFileSync(join(home.workspace, 'tsconfig.json'), '{}')
  writeFileSync(join(home.workspace, 'sums.ts'), 'export function addAll(): void {}\nexport const substractOne = 1\n')
})
afterAll(() => home.close())

test('a symbol of a file is offered by its first letters and taken with Tab', async () => {
  const screen = openConversation(home, { at: home })
  await screen.shows(/first use of/) // It has its server.
  screen.type('look at @sums.ts#add')
  await screen.shows(/#addAll/)
  screen.type('\t')
  await screen.shows(/look at @sums\.ts#addAll/)
  screen.type(CTRL.u)
  expect((await leave(screen)).screen).not.toContain('substractOne')
})
