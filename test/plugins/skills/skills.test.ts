// Holds subsystems b.10.
/** Skills as models meet them: named by the tool, loaded on demand with their files, under permission rules and within bounds. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { skillsPlugin } from '../../../src/plugins/skills/skills.plugin.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, says, startTestService, type TestService } from '../../fakes/service.js'

interface Given {
  readonly files?: Readonly<Record<string, string>>
  readonly config?: Record<string, unknown>
}

async function start({ files = {}, config = { permission: { '*': 'allow' } } }: Given) {
  const effects = createFakeEffects()
  const put = (name: string, text: string) => {
    const path = join(effects.paths.cwd, '.svc/skills', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }
  for (const [name, text] of Object.entries(files)) put(name, text)
  return { service: await startTestService({ effects, plugins: [skillsPlugin()], config }), put }
}

const skillFile = (description: string, body: string) => `---\ndescription: ${description}\n---\n${body}\n`
const offered = ({ requests }: TestService) => requests.at(-1)?.tools.find((tool) => tool.id === 'skill')

/** The state of the part after a call of the tool. */
async function load(service: TestService, name: string, sessionId?: string) {
  const id = sessionId ?? (await service.session())
  service.steps.push(calls({ callId: `c${service.requests.length}`, tool: 'skill', input: { name } }), says('done'))
  await service.prompt(id, 'go')
  await service.idle(id)
  const part = service
    .messages(id)
    .flatMap(({ parts }) => parts)
    .findLast(({ type }) => type === 'tool')
  if (part?.type !== 'tool') throw new Error('nothing was called')
  return part.state
}

test('the tool names the skills there are, and loads one with the files beside it', async () => {
  const { service } = await start({
    files: {
      'tidy/SKILL.md': skillFile('Tidy\n  a folder', 'Run scripts/tidy.sh.'),
      'tidy/scripts/tidy.sh': 'true',
      'tidy/notes.md': 'x',
      'review/SKILL.md': skillFile('Review a change', 'Look.'),
    },
  })
  const state = await load(service, 'tidy')
  const folder = join(service.directory, '.svc/skills/tidy')
  expect(state).toMatchObject({
    status: 'completed',
    title: 'tidy',
    output: `<skill name="tidy">\nRun scripts/tidy.sh.\n</skill>\n\nFiles of the skill, in ${folder}:\n- notes.md\n- scripts/tidy.sh`,
    metadata: { name: 'tidy', directory: folder, files: ['notes.md', 'scripts/tidy.sh'], filesTruncated: false },
  })
  const description = offered(service)?.description.split('\n').slice(2)
  const line = (name: string, text: string) => `- ${name}: ${text} (${join(service.directory, '.svc/skills', name, 'SKILL.md')})`
  expect(description).toEqual([line('review', 'Review a change'), line('tidy', 'Tidy a folder')])
  expect(await load(service, 'review')).toMatchObject({ output: '<skill name="review">\nLook.\n</skill>' })
  expect(await load(service, 'tydy')).toMatchObject({
    status: 'error',
    error: 'There is no skill "tydy". Did you mean "tidy"? Skills: review, tidy.',
  })
})

test('where there are no skills there is no tool; one that comes is offered at the next step', async () => {
  const { service, put } = await start({})
  const id = await service.session()
  service.steps.push(says('hello'))
  await service.prompt(id, 'go')
  await service.idle(id)
  expect(offered(service)).toBeUndefined()
  put('late/SKILL.md', skillFile('Comes late', 'Late.'))
  const skills = async () => {
    service.effects.clock.advance(LIMITS.config.settle)
    return service.runtime.resources.skills(service.directory)
  }
  await expect.poll(skills).toHaveLength(1)
  expect(await load(service, 'late', id)).toMatchObject({ status: 'completed' })
})

test('what rules deny is neither offered nor loaded', async () => {
  const files = { 'tidy/SKILL.md': skillFile('Tidy', 'Tidy.'), 'other/SKILL.md': skillFile('Other', 'Other.') }
  const all = await start({ files, config: { permission: { '*': 'allow', skill: 'deny' } } })
  all.service.steps.push(says('hello'))
  const id = await all.service.session()
  await all.service.prompt(id, 'go')
  await all.service.idle(id)
  expect(offered(all.service)).toBeUndefined()
  const one = await start({ files, config: { permission: { '*': 'allow', skill: { '*': 'allow', tidy: 'deny' } } } })
  expect(await load(one.service, 'tidy')).toMatchObject({ status: 'error' })
  expect(await load(one.service, 'other')).toMatchObject({ status: 'completed' })
})

test('lists are bounded, links are not followed, and a skill that became a link or no text is not read', async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`big/f${String(at).padStart(2, '0')}.txt`, 'x']))
  const { service, put } = await start({ files: { ...many, 'big/SKILL.md': skillFile('Big', 'Big.') } })
  const folder = join(service.directory, '.svc/skills/big')
  symlinkSync('/etc', join(folder, 'a-link'))
  const state = await load(service, 'big')
  if (state.status !== 'completed') throw new Error(state.status)
  expect(state.metadata).toMatchObject({ filesTruncated: true })
  expect(state.output.split('\n').filter((line) => line.startsWith('- '))).toHaveLength(LIMITS.skills.files)
  expect(state.output).not.toContain('a-link')
  expect(state.output.endsWith('(There are more.)')).toBe(true)
  const path = put('big/SKILL.md', 'x')
  rmSync(path)
  symlinkSync('/etc/hostname', path)
  expect(await load(service, 'big')).toMatchObject({ status: 'error' })
})

test('a skill is loaded though a folder beside it cannot be read', async () => {
  const { service, put } = await start({ files: { 'tidy/SKILL.md': skillFile('Tidy', 'Do it.'), 'tidy/notes.md': 'x' } })
  expect(await load(service, 'tidy')).toMatchObject({ status: 'completed', metadata: { files: ['notes.md'], filesTruncated: false } })
  const folder = dirname(put('tidy/zz/deep/file', 'x'))
  const { walk } = service.effects.files
  Object.assign(service.effects.files, {
    async *walk(...asked: Parameters<typeof walk>) {
      for await (const entry of walk(...asked)) {
        if (entry.path.startsWith('zz/')) throw Object.assign(new Error(`name too long, opendir '${folder}'`), { code: 'ENAMETOOLONG' })
        yield entry
      }
    },
  })
  expect(await load(service, 'tidy')).toMatchObject({ status: 'completed', metadata: { files: ['notes.md'], filesTruncated: true } })
})
