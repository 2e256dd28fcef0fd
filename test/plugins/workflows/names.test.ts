/** Workflows that name an agent or a skill that is not there (choice 44). */
import { expect, test } from 'vitest'
import { startWorkflows, workflowFile } from './service.js'

test('stay valid and active, with a warning that goes when what they name comes', async () => {
  const flows = await startWorkflows()
  flows.save('.svc/workflows/one.md', workflowFile({ agent: 'ghost', skill: 'spirit' }))
  await flows.activate('one')
  const warned = await flows.view('one')
  expect(warned).toMatchObject({ active: true, diagnostics: [{ code: 'agent-missing' }, { code: 'skill-missing' }] })
  expect((await flows.list()).diagnostics).toEqual([
    { sourcePath: warned.sourcePath, code: 'agent-missing', message: expect.stringContaining('names the agent "ghost"') as string },
    { sourcePath: warned.sourcePath, code: 'skill-missing', message: expect.stringContaining('names the skill "spirit"') as string },
  ])
  flows.save('.svc/agents/ghost.md', 'Boo.')
  flows.save('.svc/skills/spirit/SKILL.md', '---\ndescription: Spirit.\n---\nBe quiet.')
  await flows.settle()
  const { diagnostics, active } = await flows.view('one')
  expect([active, diagnostics]).toEqual([true, undefined])
})
