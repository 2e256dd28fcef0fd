// Holds sessions-events §8.12.
import { describe, expect, it } from 'vitest'
import { evaluateLayers } from '../../../src/machines/permission/permission.js'
import { layersFor } from '../../../src/actors/session/run/ceilings.js'
import type { AgentView } from '../../../src/ports/facades.js'
import { createWorkspace } from './workspace.js'

/** What an installation may have restricted: its own agent, another default, an agent of its own. */
const INSTALLATIONS: Readonly<Record<string, object>> = {
  'build restricted': { agent: { build: { permission: { bash: 'deny', edit: 'ask' }, steps: 5 } } },
  'the planner by default': { defaultAgent: 'plan' },
  'an agent of its own by default': {
    defaultAgent: 'safe',
    agent: { safe: { mode: 'primary', permission: { '*': 'deny', read: 'allow' } }, ops: { permission: { bash: 'allow' } } },
  },
  'only some commands': { agent: { build: { permission: { bash: { '*': 'ask', 'ls *': 'allow' }, webfetch: 'deny' } } } },
  'everything asks': { permission: { bash: 'ask', edit: 'ask' }, agent: { build: { permission: { network: 'deny' } } } },
}

const ALLOWS = { permission: { '*': 'allow', bash: 'allow', edit: 'allow', webfetch: 'allow' } }

/** Ways in which a workspace puts another agent in the place of the default one. */
const WORKSPACES: Readonly<Record<string, object>> = {
  'an agent of its own': { defaultAgent: 'helper', agent: { helper: { mode: 'primary', ...ALLOWS }, build: { disable: true } } },
  'an agent of its own for all modes': { defaultAgent: 'helper', agent: { helper: ALLOWS } },
  'an agent that comes first by name': { agent: { aaa: { mode: 'primary', ...ALLOWS }, build: { hidden: true }, safe: { hidden: true } } },
  'the default switched off': { agent: { build: { disable: true }, safe: { disable: true } } },
  'the default made a subagent': { agent: { build: { mode: 'subagent' }, safe: { mode: 'subagent' }, plan: { mode: 'subagent' } } },
  'a subagent made the default': { defaultAgent: 'general', agent: { general: { mode: 'primary', ...ALLOWS } } },
  'another agent of the installation': { defaultAgent: 'ops' },
  'the builder': { defaultAgent: 'build' },
  'the planner': { defaultAgent: 'plan' },
  'an agent with the name of another': { defaultAgent: 'helper', agent: { helper: { name: 'build', mode: 'primary', ...ALLOWS } } },
  'another agent under a new name': {
    defaultAgent: 'new',
    agent: { ops: { name: 'new', mode: 'primary' }, general: { name: 'new', mode: 'all' } },
  },
  'a mode': { defaultAgent: 'm', mode: { m: ALLOWS } },
}

/** Commands of a workspace that name who carries them out. */
const NAMED = ['ops', 'general', 'plan', 'build', 'explore']

const PROBES = ['bash', 'edit', 'write', 'read', 'webfetch', 'network', 'external_directory', 'doom_loop', 'task'].flatMap((permission) =>
  ['*', 'ls -l', 'rm -rf x', 'a.env', '/etc/passwd'].map((pattern) => ({ permission, pattern })),
)
const STRICTNESS = ['allow', 'ask', 'deny']

function answersOf(agent: AgentView) {
  const layers = layersFor({}, agent, [])
  return PROBES.map(({ permission, pattern }) => evaluateLayers(layers, permission, pattern))
}

function isWider(agent: AgentView, than: AgentView): boolean {
  const limits = answersOf(than)
  const isLooser = answersOf(agent).some((answer, index) => STRICTNESS.indexOf(answer) < STRICTNESS.indexOf(limits[index] ?? 'deny'))
  const [steps, most] = [agent.record.steps ?? Infinity, than.record.steps ?? Infinity]
  return isLooser || steps > most
}

async function place(installation: object, files: Readonly<Record<string, unknown>>) {
  const workspace = createWorkspace()
  workspace.write('config/config.json', installation)
  const directory = workspace.work
  const alone = await workspace.resources.defaultAgent(directory)
  for (const [path, text] of Object.entries(files)) workspace.write(`work/${path}`, text)
  await workspace.effective()
  return { workspace, directory, alone }
}

const cases = Object.entries(INSTALLATIONS).flatMap(([installation, trusted]) =>
  Object.entries(WORKSPACES).map(([project, document]) => ({ installation, project, trusted, document })),
)

describe('the agent that answers by default', () => {
  it.each(cases)('with $installation, of a workspace with $project, may do no more than without it', async ({ trusted, document }) => {
    const { workspace, directory, alone } = await place(trusted, { 'svc.json': document })
    const chosen = await workspace.resources.defaultAgent(directory)
    expect(isWider(chosen, alone)).toBe(false)
    // A session keeps the name: by it the same agent is found.
    expect(isWider(await workspace.resources.agent(directory, chosen.record.name), alone)).toBe(false)
  })

  it('control: the installation itself may choose what is wider', async () => {
    for (const trusted of Object.values(INSTALLATIONS)) {
      const { alone } = await place(trusted, {})
      const { alone: free } = await place({ agent: { free: { mode: 'primary', ...ALLOWS } }, defaultAgent: 'free' }, {})
      expect(isWider(free, alone)).toBe(true)
    }
  })

  it('a workspace that chooses nothing leaves every agent as it was', async () => {
    const { workspace, directory } = await place(INSTALLATIONS['build restricted'] ?? {}, {
      'svc.json': { model: 'a/b', agent: { plan: { prompt: 'x' } } },
    })
    const alone = await place(INSTALLATIONS['build restricted'] ?? {}, {})
    for (const name of ['build', 'plan', 'general', 'explore']) {
      const [with_, without] = [
        await workspace.resources.agent(directory, name),
        await alone.workspace.resources.agent(alone.directory, name),
      ]
      expect(answersOf(with_)).toEqual(answersOf(without))
      expect(with_).not.toHaveProperty('ceiling')
    }
  })
})

describe('commands of a workspace', () => {
  it.each(Object.entries(INSTALLATIONS).map(([name, trusted]) => ({ name, trusted })))(
    'with $name, name nobody who may do more than the default agent',
    async ({ trusted }) => {
      const commands = Object.fromEntries(NAMED.map((agent) => [`.svc/commands/${agent}.md`, `---\nagent: ${agent}\n---\nDo it.`]))
      const { workspace, directory, alone } = await place(trusted, commands)
      const found = await workspace.resources.commands(directory)
      const named = found.flatMap(({ agent }) => agent ?? [])
      expect(named.length).toBeGreaterThan(3)
      for (const agent of named) expect([agent, isWider(await workspace.resources.agent(directory, agent), alone)]).toEqual([agent, false])
    },
  )

  it('that change what a command of the installation says are carried out by no more either', async () => {
    const trusted = {
      agent: { build: { permission: { bash: 'deny' } }, ops: { permission: { bash: 'allow' } } },
      command: { ship: { template: 'Ship.', agent: 'ops' } },
    }
    const before = await place(trusted, {})
    expect(isWider(await before.workspace.resources.agent(before.directory, 'ops'), before.alone)).toBe(true)
    const after = await place(trusted, { 'svc.json': { command: { ship: { template: 'Remove it.' } } } })
    expect(isWider(await after.workspace.resources.agent(after.directory, 'ops'), after.alone)).toBe(false)
  })
})

describe('what the installation says of an agent stays', () => {
  it('when a file of the workspace replaces it: reserved options, fewer steps', async () => {
    const trusted = { agent: { build: { steps: 5, options: { store: false, reasoningEffort: 'low' } } } }
    const { workspace, directory } = await place(trusted, {
      '.svc/agents/build.md': '---\nsteps: 50\noptions: { store: true, topK: 3 }\n---\nMine.',
    })
    const { record } = await workspace.resources.agent(directory, 'build')
    expect(record).toMatchObject({ steps: 5, options: { store: false, topK: 3 }, prompt: 'Mine.' })
    expect(await workspace.messages()).toHaveLength(2)
  })

  it('sessions that plan do so as the planner, whatever a workspace calls it', async () => {
    const { workspace, directory } = await place({}, { 'svc.json': { agent: { plan: { disable: true, name: 'p' } } } })
    expect((await workspace.resources.agent(directory, 'plan')).record).toMatchObject({ name: 'p', permission: { write: 'deny' } })
    expect(await workspace.messages()).toEqual([
      `"agent.plan.disable" in ${workspace.at('work/svc.json')} has no effect: sessions that plan would do so as another agent; only the installation configuration can set it`,
    ])
  })

  it('a name to show that another agent has is not shown', async () => {
    const { workspace, directory } = await place(
      {},
      { 'svc.json': { agent: { helper: { name: 'build' }, other: { name: 'Helper' }, third: { name: 'Helper' } } } },
    )
    const names = (await workspace.resources.agents(directory)).map(({ name }) => name)
    expect(names).toEqual(['build', 'Helper', 'compaction', 'explore', 'general', 'helper', 'plan', 'summary', 'third', 'title'])
  })
})
