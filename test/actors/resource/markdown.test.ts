// Holds subsystems b.6.
import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseMarkdown } from '../../../src/actors/resource/markdown/frontmatter.js'
import { anyText, containing, matching } from './matchers.js'
import { createWorkspace } from './workspace.js'

describe('front matter', () => {
  it.each([
    ['Just text.\n', { values: {}, body: 'Just text.' }],
    ['---\nname: a\n---\n\n  Body.\n\n', { values: { name: 'a' }, body: 'Body.' }],
    ['---\r\nname: a\r\n---\r\nBody.', { values: { name: 'a' }, body: 'Body.' }],
    ['---\n---\nBody.', { values: {}, body: 'Body.' }],
    ['---\nname: a\nno end', { values: {}, body: '---\nname: a\nno end' }],
    [' ---\nname: a\n---\n', { values: {}, body: '---\nname: a\n---' }],
    ['---\nat: 09:30\non: yes\nday: 2026-01-05\n---', { values: { at: '09:30', on: 'yes', day: '2026-01-05' }, body: '' }],
    ['---\na: 1\n---\nText\n---\nmore', { values: { a: 1 }, body: 'Text\n---\nmore' }],
  ])('of %j', (text, expected) => {
    expect(parseMarkdown(text)).toEqual({ ok: true, ...expected })
  })

  it.each([
    ['a key given twice', '---\na: 1\nb: 2\na: 3\n---', 4],
    ['broken YAML', '---\na: [1\n---', 2],
    ['a list', '---\n- a\n---', 1],
    ['too many aliases', `---\na: &a [1,2]\nb: [${'*a,'.repeat(40)}]\n---`, 1],
    ['nesting without end', `---\na: ${'['.repeat(5000)}${']'.repeat(5000)}\n---`, 1],
    ['compact nesting', `---\na:\n  ${'- '.repeat(5000)}x\n---`, 1],
    ['endless front matter', `---\na: ${'x'.repeat(70_000)}\n---`, 1],
  ])('with %s is refused', (_what, text, line) => {
    expect(parseMarkdown(text)).toEqual({ ok: false, message: anyText, line })
  })
})

describe('Markdown entries', () => {
  it('become agents, modes and commands under every folder name', async () => {
    const workspace = createWorkspace()
    workspace.write('config/agent/one.md', 'One.')
    workspace.write('config/agents/team/two.md', '---\nmax-steps: 2\n---\nTwo.')
    workspace.write('config/mode/three.md', 'Three.')
    workspace.write('config/modes/four.md', '---\nmode: all\n---\n')
    workspace.write('config/command/five.md', '---\nagent: plan\nsubtask: true\n---\nFive $1.')
    workspace.write('config/commands/six.md', '---\nname: other\n---\nSix.')
    workspace.write('config/agents/notes.txt', 'no')
    expect(await workspace.load()).toEqual({
      agent: {
        one: { prompt: 'One.' },
        'team/two': { steps: 2, prompt: 'Two.' },
        three: { mode: 'primary', prompt: 'Three.' },
        four: { mode: 'all' },
      },
      command: { five: { name: 'five', agent: 'plan', subtask: true, template: 'Five $1.' }, other: { name: 'other', template: 'Six.' } },
    })
    expect((await workspace.resources.commands(workspace.work)).map(({ name }) => name)).toEqual(['five', 'init', 'other', 'summarize'])
  })

  it('that are broken are left out and reported, the others stay', async () => {
    const workspace = createWorkspace()
    workspace.write('config/agents/good.md', 'Good.')
    workspace.write('config/agents/bad.md', '---\na: [1\n---\nBad.')
    workspace.write('config/agents/wrong.md', '---\nmode: boss\n---\n')
    workspace.write('config/agents/huge.md', 'x'.repeat(512 * 1024 + 1))
    expect((await workspace.load())['agent']).toEqual({ good: { prompt: 'Good.' } })
    const { ok, diagnostics } = await workspace.configs.validate(workspace.work)
    const at = (name: string) => workspace.at(`config/agents/${name}.md`)
    expect(ok).toBe(false)
    expect(diagnostics).toEqual([
      { level: 'error', path: 'agent.bad', message: matching(/bad\.md is not used: line 2: /), file: at('bad'), line: 2, column: 1 },
      { level: 'error', path: 'agent.huge', message: containing('is larger than 524288 bytes'), file: at('huge'), line: 1, column: 1 },
      { level: 'error', path: 'agent.wrong', message: matching(/wrong\.md is not used: "mode" /), file: at('wrong'), line: 1, column: 1 },
    ])
  })

  it('that break say what they said before, until they can be read again or are gone', async () => {
    const workspace = createWorkspace()
    workspace.write('work/.svc/agents/a.md', '---\npermission: { bash: deny }\n---\nBefore.')
    workspace.write('work/.svc/commands/go.md', 'Go.')
    const said = async () => {
      const { agent, command } = await workspace.load()
      return { agent, command }
    }
    const before = await said()
    expect(before).toMatchObject({
      agent: { a: { prompt: 'Before.', permission: { bash: 'deny' } } },
      command: { go: { template: 'Go.' } },
    })
    workspace.write('work/.svc/agents/a.md', '---\na: [1\n---\nBroken.')
    workspace.write('work/.svc/commands/go.md', '---\nsubtask: perhaps\n---\nBroken.')
    expect(await said()).toEqual(before)
    expect((await workspace.configs.validate(workspace.work)).diagnostics.map(({ path }) => path)).toEqual(['agent.a', 'command.go'])
    workspace.write('work/.svc/agents/b.md', 'Another.')
    expect(await said()).toMatchObject(before)
    workspace.write('work/.svc/agents/a.md', 'After.')
    expect(await said()).toMatchObject({ agent: { a: { prompt: 'After.' } } })
    rmSync(workspace.at('work/.svc/commands/go.md'))
    expect((await said()).command).toBeUndefined()
  })

  it('stop being read when a directory holds too much of them', async () => {
    const workspace = createWorkspace()
    for (let index = 10; index < 28; index++) workspace.write(`config/agents/a${index}.md`, 'x'.repeat(500_000))
    expect(Object.keys((await workspace.resources.agents(workspace.work)).filter(({ native }) => !native))).toHaveLength(16)
    expect(await workspace.messages()).toEqual([containing('a26.md is not read'), containing('a27.md is not read')])
  })
})

describe('definitions of a workspace', () => {
  it('beyond what a workspace may say are left out and counted, those of the installation are not', async () => {
    const workspace = createWorkspace()
    for (let index = 1000; index < 2000; index++) workspace.write(`work/.svc/commands/c${index}.md`, 'Do it.')
    workspace.write('config/commands/own.md', 'Own.')
    const names = (await workspace.resources.commands(workspace.work)).map(({ name }) => name)
    expect(names.filter((name) => name.startsWith('c1'))).toHaveLength(910)
    expect(names).toContain('own')
    expect(await workspace.messages()).toEqual([
      `90 definitions below ${workspace.at('work/.svc')}: each is not used: the files of the workspace say more than 16384 values together`,
    ])
  })
})

describe('skills', () => {
  it('are found in every configuration directory and in configured paths, the later root winning', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', { skills: { paths: ['~/mine', 'local'] } })
    workspace.write('config/skills/review/SKILL.md', '---\ndescription: from the installation\n---\nBody.')
    workspace.write('config/skill/deep/inside/lint/SKILL.md', 'Body.')
    workspace.write('work/.svc/skills/review/SKILL.md', '---\ndescription: from the project\n---\nBody.')
    workspace.write('work/local/build/SKILL.md', '---\nname: anything\n---\nBody.')
    workspace.write('home/mine/notes/SKILL.md', 'Body.')
    workspace.write('home/mine/notes/node_modules/x/SKILL.md', 'Body.')
    workspace.write('config/skills/broken/SKILL.md', '---\n- a\n---\n')
    expect(await workspace.resources.skills(workspace.work)).toEqual([
      { name: 'build', description: null, path: workspace.at('work/local/build/SKILL.md') },
      { name: 'lint', description: null, path: workspace.at('config/skill/deep/inside/lint/SKILL.md') },
      { name: 'notes', description: null, path: workspace.at('home/mine/notes/SKILL.md') },
      { name: 'review', description: 'from the project', path: workspace.at('work/.svc/skills/review/SKILL.md') },
    ])
    expect(await workspace.messages()).toEqual([
      `${workspace.at('config/skills/broken/SKILL.md')} is not used: line 1: the front matter must be a map of keys to values`,
    ])
  })
})
