// Holds sessions-events §12.
import { expect, it } from 'vitest'
import { says, startTestService } from '../../fakes/service.js'

const DAY = 86_400_000

it('a session that was asleep says its first words as before, and the new day in a note', async () => {
  const service = await startTestService()
  const id = await service.session()
  service.steps.push(says('one'), says('two'), says('three'))
  for (const prompt of ['a', 'b', 'c']) {
    await service.prompt(id, { prompt })
    await service.idle(id)
    await service.effects.clock.advanceAsync(DAY)
  }
  const systems = service.requests.map(({ messages }) => messages.flatMap((message) => (message.role === 'system' ? [message.text] : [])))
  expect(systems).toHaveLength(3)
  expect(systems.map(([first]) => first)).toEqual([systems[0]?.[0], systems[0]?.[0], systems[0]?.[0]])
  expect(systems[0]?.[0]).toContain('Date: ')
  expect(systems[1]).toContainEqual(expect.stringContaining('The date is now'))
  expect(systems[2]?.filter((text) => text.includes('The date is now'))).not.toEqual(
    systems[1]?.filter((text) => text.includes('The date is now')),
  )
})
