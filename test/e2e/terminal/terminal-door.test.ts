// Holds threat-model S1.
/** Nothing from outside moves the terminal of a person: not from models, not from folders, not from errors (threat-model S4). */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, type Place, withModel } from '../server/place.js'
import { PROGRAM } from '../server/server.js'

let place: Place
let model: ModelServer | undefined
afterEach(async () => {
  await model?.close()
  model = undefined
  place.remove()
})

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
const clean = (printed: string) => printed.split('\n').filter((line) => UNSEEN.test(line.replaceAll('\t', '')))

async function svc(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const run = promisify(execFile)(process.execPath, [PROGRAM, ...args], { cwd: place.repo, env: place.env })
  return run.catch((error: unknown) => error as { stdout: string; stderr: string })
}

const ANSWER = [
  'red \u001b',
  '[31m, title \u001b]0;x',
  '\u0007, back \u202e',
  'evil\u200b \u{e0041}tag \u009b2J \u2028',
  ' end\n\tlast \u{1f600}',
]

async function answering(): Promise<void> {
  model = await startModelServer(({ body }) => {
    if ((body?.tools ?? []).length === 0) return reply(text('a title'), finish('stop'))
    if (body?.messages.at(-1)?.role === 'tool') return reply(text(...ANSWER), finish('stop'))
    return reply(toolCall({ id: 'c', name: 'read', input: { filePath: 'no\u001b[2J\u202efile' } }), finish('tool_calls'))
  })
  place = makePlace()
  place.configure(withModel(model.url))
}

test('an answer and a tool line of svc run, also where a sequence comes in two pieces', async () => {
  await answering()
  const { stdout, stderr } = await svc('run', 'go')
  expect(clean(stdout)).toEqual([])
  expect(clean(stderr)).toEqual([])
  expect(stdout).toContain('red [31m, title ]0;x, back evil tag 2J  end\n\tlast \u{1f600}')
  expect(stderr).toContain('file')
})

test('its records say the same in escapes', async () => {
  await answering()
  const { stdout } = await svc('run', '--output', 'events', 'go')
  expect(clean(stdout)).toEqual([])
  const records = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.stringify(JSON.parse(line)))
  expect(records.join('\n')).toContain(JSON.stringify(ANSWER.join('')).slice(1, -1))
})

test('names of folders and files, in lists, findings and errors', async () => {
  place = makePlace()
  const evil = 'evil\u001b[31m\u202e\u200b'
  mkdirSync(join(place.repo, '.svc/plugins', evil), { recursive: true })
  writeFileSync(join(place.repo, '.svc/plugins', evil, 'svc-plugin.json'), '{')
  mkdirSync(join(place.repo, '.svc/workflows'), { recursive: true })
  writeFileSync(join(place.repo, '.svc/workflows', `${evil}.md`), 'nothing')
  writeFileSync(join(place.repo, 'svc.json'), JSON.stringify({ model: evil, [`key${evil}`]: 1, agent: { build: { model: evil } } }))
  for (const args of [
    ['plugin', 'list'],
    ['plugin', 'list', '--json'],
    ['plugin', 'doctor'],
    ['plugin', 'trust', evil],
    ['workflow', 'validate'],
    ['workflow', 'validate', '--json'],
    ['workflow', 'preview', evil],
    ['doctor'],
    ['doctor', '--json'],
    ['inspect', '--trace', evil],
    [evil],
  ]) {
    const { stdout, stderr } = await svc(...args)
    expect([args, clean(stdout), clean(stderr), `${stdout}${stderr}` !== '']).toEqual([args, [], [], true])
  }
})
